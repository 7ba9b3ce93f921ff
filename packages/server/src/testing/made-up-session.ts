import type { Session, Thread, ThreadId } from "@tandem/protocol";

const AT = "2026-01-01T00:00:00.000Z";
const AGENT = {
  type: "agent" as const,
  id: "agent_1",
  version: 1,
  name: "tester",
  description: null,
  model: { id: "claude-sonnet-5-5" },
  system: null,
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: "service_account" as const },
};
const USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  list_cost: { amount: "0", currency: "USD" as const },
  active_seconds: 0,
};

export const madeUpSession = (id: string): Session => ({
  type: "session",
  id,
  status: "idle",
  agent: { ...AGENT, multiagent: null },
  environment_id: "env_local",
  title: null,
  metadata: {},
  resources: [],
  vault_ids: [],
  budget: null,
  usage: USAGE,
  stats: { active_seconds: 0, duration_seconds: 0 },
  outcome_evaluations: [],
  deployment_id: null,
  created_at: AT,
  updated_at: AT,
  archived_at: null,
});

export const madeUpThread = (session: string, id: ThreadId, parent: ThreadId | null): Thread => ({
  type: "session_thread",
  id,
  session_id: session,
  parent_thread_id: parent,
  agent: AGENT,
  status: "idle",
  stats: null,
  usage: null,
  workflow_run_id: null,
  created_at: AT,
  updated_at: AT,
  archived_at: null,
});
