import { z } from "zod";
import { connections, contextSection, ingestSection, memorySection, scanSection } from "./context-config.ts";
import {
  approvalsSection,
  budgetsSection,
  checkpointsSection,
  hooksSection,
  mcpServersSection,
  notifySection,
  permissionMode,
  rulesSection,
  sandboxSection,
  worktreesSection,
} from "./control-config.ts";
import { deadline, duration } from "./duration.ts";
import { secretReference, SECRET_FORM, SECRET_FORMAT } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

export const BACKENDS = ["none", "anthropic", "vertex", "gateway", "claude-code"] as const;
export type Backend = (typeof BACKENDS)[number];

/** The purposes of LLM calls. The config sets a model per role; `default` serves the others. */
export const ROLES = ["default", "triage", "candidateExtraction", "curator", "reconcile", "repair"] as const;
export type Role = (typeof ROLES)[number];

/** Which single credential Claude Code gets: the user's own login, an API key, or a long-lived OAuth token. */
export const CLAUDE_CODE_AUTHS = ["login", "api_key", "oauth_token"] as const;
export type ClaudeCodeAuth = (typeof CLAUDE_CODE_AUTHS)[number];

const baseUrl = z
  .url({ protocol: /^https?$/, error: "expected a URL that begins with https:// or http://" })
  // `status` and errors show the URL, so a password in it would leak.
  .refine((url) => !/^[^/]*\/\/[^/]*@/.test(url), "a user name or password does not belong in a URL here")
  .meta(needsTrust());

// An alias, or an id in the service's own spelling (claude-sonnet-5, anthropic/claude-sonnet-5, claude-sonnet-5@20260101). A
// list of valid ids here would become stale.
const MODEL_EXPECTED = "expected an alias (sonnet, opus, haiku) or a model id such as claude-sonnet-5";
const model = z.string({ error: MODEL_EXPECTED }).regex(/^[A-Za-z0-9][\w.:@/-]*(\[1m\])?$/, MODEL_EXPECTED);
const cacheTtl = z.enum(["5m", "1h"]);

// Both become parts of a URL that receives the user's Google token, so no character may end that part.
const googleProject = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.:-]*$/, "expected a Google Cloud project id such as my-project-1")
  .meta(needsTrust());
const googleLocation = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/, "expected global or a region such as us-east5 or europe-west1")
  .meta(needsTrust());

const provider = z.strictObject({
  backend: z
    .enum(BACKENDS)
    .default("none")
    // The login is the account that pays for sessions anyway. Every other backend bills a key.
    .meta(needsTrust("claude-code"))
    .describe("What performs LLM calls."),
  anthropic: z
    .strictObject({
      apiKey: secretReference.default("env:ANTHROPIC_API_KEY").describe("Where the API key is kept."),
      baseUrl: baseUrl.optional().describe("Another address than Anthropic's own."),
    })
    .prefault({})
    .describe("Anthropic's API."),
  vertex: z
    .strictObject({
      project: googleProject.optional().describe("The Google Cloud project that is called and billed."),
      location: googleLocation.default("global").describe("A Vertex AI region, or `global`."),
      credentials: secretReference
        .optional()
        .describe("Where a service account's JSON is kept; without it, Google's application default credentials."),
      baseUrl: baseUrl.optional().describe("Another address than Google's own."),
    })
    .prefault({})
    .describe("Claude on Google Vertex AI."),
  gateway: z
    .strictObject({
      apiKey: secretReference.default("env:AI_GATEWAY_API_KEY").describe("Where the gateway's key is kept."),
      baseUrl: baseUrl.optional().describe("Another address than Vercel's own."),
    })
    .prefault({})
    .describe("Vercel AI Gateway, or what speaks its protocol."),
});

const claudeCode = z.strictObject({
  auth: z
    .enum(CLAUDE_CODE_AUTHS)
    .default("login")
    .meta(needsTrust())
    .describe("Which single credential Claude Code gets, and so who pays."),
  apiKey: secretReference
    .default("env:ANTHROPIC_API_KEY")
    .describe("Where the API key is kept; used with `auth: api_key` only."),
  oauthToken: secretReference
    .default("env:CLAUDE_CODE_OAUTH_TOKEN")
    .describe("Where the token of `claude setup-token` is kept; used with `auth: oauth_token` only."),
  baseUrl: baseUrl
    .optional()
    .describe("Another address than Anthropic's own; used with `auth: api_key` only, a login is never sent elsewhere."),
  executable: z
    .string()
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe("A Claude Code binary other than the one that ships with Tandem."),
  effort: z
    .enum(["low", "medium", "high"])
    .meta(harmless("The same account pays; budgets limit it."))
    .optional()
    .describe("How much the model thinks before it answers; without it, what is the model's default in Claude Code."),
});

const models = z.strictObject({
  default: model.default("sonnet").describe("The model of every role that is not named below."),
  triage: model.optional().describe("Quick sorting: is this worth a closer look?"),
  candidateExtraction: model.optional().describe("Reading sources and proposing what to keep."),
  curator: model.optional().describe("Deciding what enters the context."),
  reconcile: model.optional().describe("Settling contradictions."),
  repair: model.optional().describe("Mending what a check refused."),
});

const promptCaching = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether prompts are marked for the service's cache."),
  systemTtl: cacheTtl.default("1h").describe("How long the system prompt stays cached."),
  toolsTtl: cacheTtl.default("1h").describe("How long the tool definitions stay cached."),
  historyTtl: cacheTtl.default("5m").describe("How long the conversation so far stays cached."),
  vertexFallbackTo5m: z.boolean().default(false).describe("For Vertex regions that refuse the one-hour cache."),
});

const limits = z.strictObject({
  concurrency: z.int().min(1).max(64).default(4).describe("LLM calls at once; shrinks by itself under pressure."),
  attempts: z.int().min(1).max(20).default(5).describe("Tries per model request, the first included."),
  patience: duration.prefault("5m").describe("How long one call may wait for a quota to reset."),
  spawn: deadline.prefault("15s").describe("Deadline for Claude Code to start."),
  init: deadline.prefault("30s").describe("Deadline for Claude Code to be ready."),
  firstByte: deadline.prefault("2m").describe("Deadline for the first sign of an answer."),
  idle: deadline.prefault("2m").describe("Deadline between two signs of life while answering."),
  exit: deadline.prefault("5s").describe("Deadline for Claude Code to exit before it is killed."),
});

const pool = z.strictObject({
  mode: z
    .enum(["reuse", "single-use", "off"])
    .default("reuse")
    .describe("Whether warm Claude Code processes serve many calls, one call each, or are not kept."),
  size: z.int().min(1).max(32).default(4).describe("Warm processes at most."),
  maxCalls: z.int().min(1).default(50).describe("Calls after which a process is replaced."),
  maxAge: deadline.prefault("30m").describe("Age at which a process is replaced."),
  maxMemoryMb: z.int().min(150).default(280).describe("Megabytes of memory at which a process is replaced."),
  idle: deadline.prefault("5m").describe("How long an unused process is kept."),
});

const llm = z.strictObject({
  provider: provider.prefault({}).describe("Which service answers, and how it is reached."),
  claudeCode: claudeCode.prefault({}).describe("The `claude-code` backend."),
  models: models
    .prefault({})
    .meta(harmless("The same account pays; budgets limit it."))
    .describe("Which model serves which role."),
  promptCaching: promptCaching
    .prefault({})
    .meta(harmless("The same service gets the same prompts."))
    .describe("The service's prompt cache."),
  limits: limits
    .prefault({})
    .meta(harmless("Retries and waits of calls that the user makes."))
    .describe("Concurrency, retries and deadlines."),
  pool: pool.prefault({}).meta(harmless("Bounded resources of this machine.")).describe("Warm Claude Code processes."),
});

const DATABASE_EXPECTED = "expected postgres://… without a password, or env:NAME, file:path or command:program …";

const storage = z.strictObject({
  url: z
    .string({ error: DATABASE_EXPECTED })
    .refine((text) => SECRET_FORM.test(text) || /^postgres(ql)?:\/\/(?![^/]*:[^/]*@)/.test(text), DATABASE_EXPECTED)
    .optional()
    .meta({ format: SECRET_FORMAT, ...needsTrust() })
    .describe("A Postgres URL without a password, or where one is kept; without it, a SQLite file in `TANDEM_HOME`."),
});

const server = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .meta(needsTrust())
    .describe("The address to listen on. Another than loopback needs `tls` or `trustedProxy`."),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(4760)
    .meta(harmless("`server.host` decides who reaches it."))
    .describe("The port to listen on; 0 takes a free one."),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Names under which the server may be addressed, beside those of loopback."),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Origins of web pages, beside the server's own, that may call it."),
  trustedProxy: z
    .boolean()
    .default(false)
    .meta(needsTrust())
    .describe("Whether a proxy in front of the server does TLS."),
  tls: z
    .strictObject({
      certificate: z.string().min(1).optional().describe("Path of the certificate chain (PEM)."),
      key: z.string().min(1).optional().describe("Path of the private key (PEM)."),
    })
    .refine(
      ({ certificate, key }) => (certificate === undefined) === (key === undefined),
      "expected both files or none",
    )
    .prefault({})
    .meta(needsTrust())
    .describe("TLS of the server's own."),
  maxBodyMb: z
    .int()
    .min(1)
    .max(1_024)
    .default(32)
    .meta(harmless("Requests need a token."))
    .describe("Megabytes of a request's body at most."),
  maxUploadMb: z
    .int()
    .min(1)
    .max(10_240)
    .default(100)
    .meta(harmless("Uploads need a token."))
    .describe("Megabytes of an uploaded file at most."),
  stopWithin: deadline
    .prefault("20s")
    .meta(harmless("A bounded wait."))
    .describe("How long running turns may take to end when the server stops."),
  metricsPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta(needsTrust())
    .describe("A port on loopback where `/metrics` can be read without a token; none unless it is named."),
});

const sessions = z.strictObject({
  roots: z
    .array(z.string().min(1))
    .min(1, "expected at least one folder")
    .default(["."])
    .meta(needsTrust())
    .describe("Folders that sessions may work in or under; the first is that of `env_local`."),
  idle: deadline
    .prefault("5m")
    .meta(harmless("Memory of this machine."))
    .describe("How long an idle session keeps its Claude Code process."),
  maxProcesses: z
    .int()
    .min(1)
    .max(10_000)
    .meta(harmless("Memory of this machine."))
    .optional()
    .describe(
      "Claude Code processes of a server's sessions at once; a further turn waits for one. Default: what memory and cores allow.",
    ),
  recovery: z
    .enum(["stop", "resume"])
    .default("stop")
    .meta(needsTrust())
    .describe("What becomes of a turn that a crash has cut: it ends with an error, or goes on by itself."),
  takeover: deadline
    .prefault("6s")
    .meta(harmless("Leases keep one writer per session."))
    .describe(
      "How long a server may be silent before another takes its sessions over. In a fleet, 10s unless it is set.",
    ),
  databaseWait: deadline
    .prefault("60s")
    .meta(harmless("A bounded wait."))
    .describe("How long a turn waits for a database that does not answer or whose disk is full before it ends."),
  mcpTimeout: deadline
    .prefault("60s")
    .meta(harmless("A bounded wait."))
    .describe("How long a call of an MCP server may take."),
  permissionMode: permissionMode
    .default("default")
    .meta(needsTrust())
    .describe("How much sessions may do where no rule says anything, unless they say so themselves."),
  onQuota: z
    .enum(["stop", "wait"])
    .default("stop")
    .meta(needsTrust())
    .describe("What becomes of a turn that meets a quota with a reset time: it ends, or goes on by itself then."),
  quotaWindows: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta(needsTrust())
    .describe("How often one turn may wait for a quota."),
  compactAt: z
    .number()
    .min(0.2)
    .max(0.95)
    .meta(harmless("Claude Code compacts sessions anyway."))
    .optional()
    .describe(
      "The share of the context window at which an idle session is compacted; without it, Claude Code decides.",
    ),
  settings: z
    .enum(["none", "trusted"])
    .default("trusted")
    .meta(needsTrust())
    .describe("Whether settings, skills, hooks and MCP servers of a trusted folder load (`tandem trust --folder`)."),
  trustedFolders: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Folders that are trusted whatever is in them, without `tandem trust --folder`."),
  context: z
    .boolean()
    .default(true)
    .meta(harmless("The other value takes tools away."))
    .describe("Whether sessions can search the project's context, once it has one."),
});

const fleet = z.strictObject({
  role: z
    .enum(["all", "server", "worker"])
    .default("all")
    .meta(needsTrust())
    .describe(
      "What `tandem up` does: a server answers and streams, a worker runs turns and jobs. `--as` goes before it.",
    ),
  machine: z
    .string()
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe("The name of this machine: its workers have the same folders. Default: TANDEM_MACHINE, else the host's."),
  labels: z
    .record(z.string(), z.string())
    .default({})
    .meta(needsTrust())
    .describe("What environments can ask for with `tandem.needs`, such as `gpu: yes`."),
  maxSessions: z
    .int()
    .min(1)
    .max(10_000)
    .default(20)
    .meta(harmless("Memory of this machine."))
    .describe("Sessions that a worker holds at once at most."),
  tenants: z
    .array(z.string().min(1))
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe("The tenants that a worker takes; default: all."),
  advertise: baseUrl
    .optional()
    .describe("Where other processes of the fleet reach this one. Default: an address that only this machine reaches."),
});

const telemetry = z.strictObject({
  endpoint: baseUrl
    .optional()
    .describe("An OpenTelemetry collector (OTLP over HTTP) that gets traces of sessions; without it, nothing is sent."),
});

/** The schema of `tandem.yaml`. Unknown keys are errors, so that a typo is not silently ignored. */
export const configSchema = z.strictObject({
  llm: llm.prefault({}).describe("LLM calls."),
  storage: storage.prefault({}).describe("Where sessions, agents and files are kept."),
  server: server.prefault({}).describe("The HTTP server of `tandem up`."),
  sessions: sessions.prefault({}).describe("Sessions of agents."),
  rules: rulesSection.default([]).describe("What sessions may do: `{tool, pattern, action}`."),
  approvals: approvalsSection.prefault({}).describe("Calls that wait for a person."),
  budgets: budgetsSection
    .prefault({})
    .describe("What sessions may take: `usd`, `tokens`, `seconds`, `turns`, `requests`."),
  notify: notifySection.prefault({}).describe("Who is told when a session waits, is done or has failed."),
  hooks: hooksSection.default([]).describe("Programs and addresses that are asked about what sessions do."),
  mcpServers: mcpServersSection.default({}).describe("MCP servers that an agent can name as `tandem:NAME`."),
  checkpoints: checkpointsSection.prefault({}).describe("What a rewind goes back to."),
  worktrees: worktreesSection.prefault({}).describe("Git worktrees of sessions."),
  sandbox: sandboxSection.prefault({}).describe("Shell commands of sessions."),
  connections: connections.default({}).describe("Databases to read, by name."),
  context: contextSection.prefault({}).describe("Reviewed knowledge: catalogue, wiki, memories."),
  scan: scanSection.prefault({}).describe("Reading databases (`tandem scan`)."),
  ingest: ingestSection.prefault({}).describe("Reading documents (`tandem ingest`)."),
  memory: memorySection.prefault({}).describe("What is remembered of sessions."),
  fleet: fleet.prefault({}).describe("Several processes on one Postgres."),
  telemetry: telemetry.prefault({}).describe("Traces of what sessions do: names, counts and times, never content."),
});
export type Config = z.output<typeof configSchema>;
export type LlmConfig = Config["llm"];

export const defaultConfig = (): Config => configSchema.parse({});
