import { z } from "zod";
import { connections, contextSection, ingestSection, memorySection, scanSection } from "./context-config.ts";
import {
  approvalsSection,
  budgetsSection,
  checkpointsSection,
  hooksSection,
  mcpServersSection,
  botsSection,
  notifySection,
  permissionMode,
  rulesSection,
  webhooksSection,
  worktreesSection,
} from "./control-config.ts";
import { deadline } from "./duration.ts";
import { lspSection } from "./lsp-config.ts";
import { baseUrl, llmSection } from "./llm-config.ts";
import { sandboxSection } from "./sandbox-config.ts";
import { SECRET_FORM, SECRET_FORMAT, secretReference } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

const DATABASE_EXPECTED = "expected postgres://… without a password, or env:NAME, file:path or command:program …";

const postgresUrl = z
  .string({ error: DATABASE_EXPECTED })
  .refine((text) => SECRET_FORM.test(text) || /^postgres(ql)?:\/\/(?![^/]*:[^/]*@)/.test(text), DATABASE_EXPECTED)
  .optional()
  .meta({ format: SECRET_FORMAT, ...needsTrust() });

const storage = z.strictObject({
  url: postgresUrl.describe(
    "A Postgres URL without a password, or a secret reference to one. Default: a SQLite file in `TANDEM_HOME`.",
  ),
  directUrl: postgresUrl.describe(
    "The same database without a pooler, for notifications. Needed if `url` is a pooler in transaction mode, such as PgBouncer.",
  ),
  key: secretReference
    .optional()
    .meta(needsTrust())
    .describe(
      "Secret reference to the key that encrypts stored secrets: 32 bytes in base64. All processes of a fleet need the same. Default: the file `secrets.key` in `TANDEM_HOME`.",
    ),
});

const server = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .meta(needsTrust())
    .describe("Address to listen on. Any address but loopback needs `tls` or `trustedProxy`."),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(4760)
    .meta(harmless("`server.host` decides which machines can connect."))
    .describe("Port to listen on; 0 selects a free one."),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Host names of the server, in addition to those of loopback."),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Origins of web pages that may call the server, in addition to its own."),
  trustedProxy: z
    .boolean()
    .default(false)
    .meta(needsTrust())
    .describe("Whether a proxy in front of the server terminates TLS."),
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
    .describe("TLS of the server itself."),
  maxBodyMb: z
    .int()
    .min(1)
    .max(1_024)
    .default(32)
    .meta(harmless("Requests need a token."))
    .describe("Maximum size of a request body in megabytes."),
  maxUploadMb: z
    .int()
    .min(1)
    .max(10_240)
    .default(100)
    .meta(harmless("Uploads need a token."))
    .describe("Maximum size of an uploaded file in megabytes."),
  stopWithin: deadline
    .prefault("20s")
    .meta(harmless("A bounded wait."))
    .describe("Time for running turns to finish when the server stops."),
  metricsPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta(needsTrust())
    .describe("Loopback port that serves `/metrics` without a token. Default: none."),
  opencodePort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta(needsTrust())
    .describe("Loopback port for opencode's clients, with the same tokens. `--opencode` overrides it. Default: none."),
});

const sessions = z.strictObject({
  roots: z
    .array(z.string().min(1))
    .min(1, "expected at least one folder")
    .default(["."])
    .meta(needsTrust())
    .describe("Folders that sessions may work in, with subfolders. The first is the folder of `env_local`."),
  idle: deadline
    .prefault("5m")
    .meta(harmless("Memory of this machine."))
    .describe("Time that an idle session keeps its Claude Code process."),
  maxProcesses: z
    .int()
    .min(1)
    .max(10_000)
    .meta(harmless("Memory of this machine."))
    .optional()
    .describe(
      "Maximum number of Claude Code processes for sessions. Further turns wait. Default: derived from memory and cores.",
    ),
  spares: z
    .int()
    .min(0)
    .max(100)
    .default(2)
    .meta(harmless("Memory of this machine."))
    .describe(
      "Number of Claude Code processes that the server starts ahead, for sessions like those of the last hour, and of those that it starts when a client opens an idle session. 0 turns both off.",
    ),
  recovery: z
    .enum(["stop", "resume"])
    .default("stop")
    .meta(needsTrust())
    .describe("How a turn recovers from a crash: it ends with an error (`stop`) or continues (`resume`)."),
  takeover: deadline
    .prefault("6s")
    .meta(harmless("Leases keep one writer per session."))
    .describe(
      "Lease timeout: after this time without a heartbeat, another server takes over the sessions, and in a fleet their runs in the queue. Default in a fleet: 10s.",
    ),
  workLease: deadline
    .prefault("90s")
    .meta(harmless("Leases keep one worker per session."))
    .describe(
      "In self-hosted environments: after this time without a heartbeat of its worker, a session goes to another one.",
    ),
  databaseWait: deadline
    .prefault("60s")
    .meta(harmless("A bounded wait."))
    .describe("Time that a turn waits for an unreachable or full database before it ends."),
  mcpTimeout: deadline
    .prefault("60s")
    .meta(harmless("A bounded wait."))
    .describe("Timeout of a call to an MCP server."),
  permissionMode: permissionMode
    .default("default")
    .meta(needsTrust())
    .describe("Default permission mode of sessions, for calls that no rule covers."),
  onQuota: z
    .enum(["stop", "wait"])
    .default("stop")
    .meta(needsTrust())
    .describe("How a turn handles an exhausted quota with a reset time: it ends, or continues after the reset."),
  quotaWindows: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta(needsTrust())
    .describe("Maximum number of quota waits of one turn."),
  compactAt: z
    .number()
    .min(0.2)
    .max(0.95)
    .meta(harmless("Claude Code compacts sessions anyway."))
    .optional()
    .describe("Share of the context window at which an idle session is compacted. Default: Claude Code decides."),
  settings: z
    .enum(["none", "trusted"])
    .default("trusted")
    .meta(needsTrust())
    .describe(
      "Whether sessions load settings, skills, hooks and MCP servers of a trusted folder (`tandem trust --folder`).",
    ),
  trustedFolders: z
    .array(z.string().min(1))
    .default([])
    .meta(needsTrust())
    .describe("Folders that are always trusted, without `tandem trust --folder`."),
  context: z
    .boolean()
    .default(true)
    .meta(harmless("The other value removes tools."))
    .describe("Whether sessions can search the project's context."),
});

const fleet = z.strictObject({
  role: z
    .enum(["all", "server", "worker"])
    .default("all")
    .meta(needsTrust())
    .describe("Role of `tandem up`: a server serves clients, a worker runs turns and jobs. `--as` overrides it."),
  machine: z
    .string()
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe(
      "Name of this machine. Workers of one machine share its folders. Default: TANDEM_MACHINE, or the host name.",
    ),
  labels: z
    .record(z.string(), z.string())
    .default({})
    .meta(needsTrust())
    .describe("Labels that environments can require with `tandem.needs`, such as `gpu: yes`."),
  maxSessions: z
    .int()
    .min(1)
    .max(10_000)
    .default(20)
    .meta(harmless("Memory of this machine."))
    .describe("Maximum number of concurrent sessions of a worker."),
  tenants: z
    .array(z.string().min(1))
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe("Tenants that a worker serves. Default: all."),
  advertise: baseUrl.optional().describe("Address of this process for the rest of the fleet. Default: loopback."),
});

const telemetry = z.strictObject({
  endpoint: baseUrl
    .optional()
    .describe("OpenTelemetry collector (OTLP over HTTP) for traces of sessions. Default: none, and nothing is sent."),
});

/** The schema of `tandem.yaml`. Unknown keys are errors, so that a typo is not silently ignored. */
export const configSchema = z.strictObject({
  llm: llmSection.prefault({}).describe("Model calls."),
  storage: storage.prefault({}).describe("Storage of sessions, agents and files."),
  server: server.prefault({}).describe("The HTTP server of `tandem up`."),
  sessions: sessions.prefault({}).describe("Sessions."),
  rules: rulesSection.default([]).describe("Rules for tool calls."),
  approvals: approvalsSection.prefault({}).describe("Approvals of tool calls."),
  budgets: budgetsSection.prefault({}).describe("Spending limits: `usd`, `tokens`, `seconds`, `turns`, `requests`."),
  notify: notifySection.prefault({}).describe("Notifications when a session needs approval, completes or fails."),
  webhooks: webhooksSection
    .default([])
    .describe("Webhook endpoints: URLs that receive changes of sessions, agents and other resources."),
  hooks: hooksSection.default([]).describe("Hooks: programs and URLs that check the actions of sessions."),
  mcpServers: mcpServersSection.default({}).describe("MCP servers that an agent can reference as `tandem:NAME`."),
  lsp: lspSection.prefault({}).describe("Language servers for sessions in trusted folders."),
  checkpoints: checkpointsSection.prefault({}).describe("Checkpoints for rewind."),
  worktrees: worktreesSection.prefault({}).describe("Git worktrees of sessions."),
  bots: botsSection.default([]).describe("Bots as which sessions may push to repositories."),
  sandbox: sandboxSection.prefault({}).describe("The sandbox of sessions."),
  connections: connections.default({}).describe("Database connections, by name."),
  context: contextSection.prefault({}).describe("Reviewed knowledge: catalogue, wiki, memories."),
  scan: scanSection.prefault({}).describe("Reading databases (`tandem context scan`)."),
  ingest: ingestSection.prefault({}).describe("Reading documents (`tandem context ingest`)."),
  memory: memorySection.prefault({}).describe("Memories from sessions."),
  fleet: fleet.prefault({}).describe("Several processes on one Postgres."),
  telemetry: telemetry.prefault({}).describe("Traces of sessions: names, counts and times, never content."),
});
export type Config = z.output<typeof configSchema>;
export type LlmConfig = Config["llm"];

/** The settings of a section that a file does not have. Without those of the others, which take longer than most commands run. */
export function defaultSection<Name extends keyof Config>(name: Name): Config[Name] {
  const section: z.ZodType = configSchema.shape[name];
  // A process does this once: zod would take longer to generate faster code.
  return section.parse(undefined, { jitless: true }) as Config[Name];
}
