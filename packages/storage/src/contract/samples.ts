import {
  newId,
  type Agent,
  type Environment,
  type EventOf,
  type FileMetadata,
  type SessionAgent,
  type SessionEvent,
  type UsageSnapshot,
} from "@tandem/protocol";
import type { JobRow } from "../job-store.ts";
import type { SessionRow, ThreadRow, TokenRow } from "../store.ts";
import type { TenantRow } from "../tenant-store.ts";
import type { WorkerRow } from "../worker-store.ts";

export const usage = (cents = 0): UsageSnapshot => ({
  input_tokens: 10,
  output_tokens: 20,
  cache_read_input_tokens: 30,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  list_cost: { amount: String(cents), currency: "USD" },
  active_seconds: 1.5,
});

export const sessionAgent = (fields: Partial<SessionAgent> = {}): SessionAgent => ({
  type: "agent",
  id: "agent_sample",
  version: 1,
  name: "Sample",
  description: null,
  model: { id: "claude-sonnet-5-5" },
  system: "Be brief.",
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: "service_account" },
  multiagent: null,
  ...fields,
});

export function sessionRow(fields: Partial<SessionRow> = {}): SessionRow {
  const now = new Date().toISOString();
  return {
    id: newId("session"),
    status: "idle",
    agent: sessionAgent(),
    environmentId: "env_local",
    title: "A session",
    metadata: { team: "blue" },
    resources: [],
    budget: null,
    usage: usage(),
    activeMs: 0,
    waitingFor: [],
    folder: "/projects/one",
    place: null,
    claudeSession: undefined,
    primaryThread: newId("thread"),
    createdAt: now,
    updatedAt: now,
    archivedAt: null,
    ...fields,
  };
}

export function threadRow(row: SessionRow, fields: Partial<ThreadRow> = {}): ThreadRow {
  const { multiagent: _, ...agent } = row.agent;
  return {
    id: newId("thread"),
    session: row.id,
    parent: row.primaryThread,
    agent,
    status: "running",
    usage: null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    archivedAt: null,
    ...fields,
  };
}

export const message = (text: string, at = new Date().toISOString()): EventOf<"agent.message"> => ({
  type: "agent.message",
  content: [{ type: "text", text }],
  id: newId("event"),
  processed_at: at,
});

export const textOf = (event: SessionEvent): string | undefined =>
  event.type === "agent.message" ? event.content[0]?.text : undefined;

/** A user message as clients send it. */
export const sent = (text: string): SessionEvent => ({
  type: "user.message",
  content: [{ type: "text", text }],
  id: newId("event"),
  processed_at: null,
});

export function agent(fields: Partial<Agent> = {}): Agent {
  const now = new Date().toISOString();
  return {
    ...sessionAgent(),
    id: newId("agent"),
    multiagent: null,
    metadata: {},
    created_at: now,
    updated_at: now,
    archived_at: null,
    ...fields,
  };
}

export function environment(fields: Partial<Environment> = {}): Environment {
  const now = new Date().toISOString();
  return {
    type: "environment",
    id: newId("environment"),
    name: "Here",
    description: null,
    config: {
      type: "cloud",
      networking: { type: "unrestricted" },
      packages: { type: "packages", apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] },
    },
    metadata: { "tandem.path": "/projects/one" },
    scope: "account",
    created_at: now,
    updated_at: now,
    archived_at: null,
    ...fields,
  };
}

export const file = (size: number, fields: Partial<FileMetadata> = {}): FileMetadata => ({
  type: "file",
  id: newId("file"),
  filename: "plan.txt",
  mime_type: "text/plain",
  size_bytes: size,
  created_at: new Date().toISOString(),
  expires_at: null,
  downloadable: true,
  scope: null,
  ...fields,
});

export const job = (fields: Partial<JobRow> = {}): JobRow => ({
  id: newId("job"),
  space: "sample",
  kind: "scan",
  params: { connection: "shop" },
  state: "queued",
  progress: null,
  result: null,
  error: null,
  cancelRequested: false,
  createdAt: new Date().toISOString(),
  startedAt: null,
  endedAt: null,
  ...fields,
});

export const tenantRow = (fields: Partial<TenantRow> = {}): TenantRow => ({
  id: `t-${newId("token").slice(-12).toLowerCase()}`,
  name: "Acme & Sons",
  createdAt: new Date().toISOString(),
  archivedAt: null,
  limits: { maxRunning: 3 },
  settings: { credential: { auth: "api_key" } },
  ...fields,
});

export function tokenRow(fields: Partial<TokenRow> = {}): TokenRow {
  const id = newId("token");
  return {
    id,
    name: "laptop",
    tenant: "default",
    sha256: `hash of ${id}`,
    scopes: ["read", "run"],
    createdAt: new Date().toISOString(),
    lastUsedAt: null,
    ...fields,
  };
}

export function workerRow(fields: Partial<WorkerRow> = {}): Omit<WorkerRow, "host" | "schema" | "seenAt"> {
  const id = newId("worker");
  return {
    id,
    holder: `host ${id}`,
    role: "worker",
    machine: "host",
    labels: { gpu: "yes" },
    tenants: null,
    roots: ["/projects"],
    address: "http://127.0.0.1:4100",
    version: "0.1.0",
    maxSessions: 8,
    sessions: 2,
    startedAt: new Date().toISOString(),
    draining: false,
    payer: null,
    ...fields,
  };
}
