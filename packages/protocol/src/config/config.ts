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
import { deadline } from "./duration.ts";
import { baseUrl, llmSection } from "./llm-config.ts";
import { SECRET_FORM, SECRET_FORMAT } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

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
  llm: llmSection.prefault({}).describe("LLM calls."),
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
