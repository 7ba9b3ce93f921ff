import { z } from "zod";
import { duration } from "./duration.ts";

export const BACKENDS = ["none", "anthropic", "vertex", "gateway", "claude-code"] as const;
export type Backend = (typeof BACKENDS)[number];

/** What an LLM call is for; the config binds a model to each, and `default` serves those it does not name. */
export const ROLES = ["default", "triage", "candidateExtraction", "curator", "reconcile", "repair"] as const;
export type Role = (typeof ROLES)[number];

/** Which single credential Claude Code gets: the user's own login, an API key, or a long-lived OAuth token. */
export const CLAUDE_CODE_AUTHS = ["login", "api_key", "oauth_token"] as const;
export type ClaudeCodeAuth = (typeof CLAUDE_CODE_AUTHS)[number];

const SECRET_FORM = /^(env|file|command):\S.*$/s;

/** Where a secret is kept, never the secret itself. */
export const secretReference = z
  .string()
  .regex(
    SECRET_FORM,
    "expected env:NAME, file:path or command:program …: a secret itself does not belong in this file",
  );
export type SecretReference = z.infer<typeof secretReference>;

const baseUrl = z.url({ protocol: /^https?$/ });
const model = z.string().trim().min(1);
const cacheTtl = z.enum(["5m", "1h"]);

const provider = z.strictObject({
  backend: z.enum(BACKENDS).default("none").describe("what performs LLM calls"),
  anthropic: z
    .strictObject({ apiKey: secretReference.default("env:ANTHROPIC_API_KEY"), baseUrl: baseUrl.optional() })
    .prefault({})
    .describe("Anthropic's API"),
  vertex: z
    .strictObject({
      project: z.string().min(1).optional(),
      location: z.string().min(1).default("global"),
      credentials: secretReference.optional().describe("a service account's JSON; without it, Google's own defaults"),
      baseUrl: baseUrl.optional(),
    })
    .prefault({})
    .describe("Claude on Google Vertex AI"),
  gateway: z
    .strictObject({ apiKey: secretReference.default("env:AI_GATEWAY_API_KEY"), baseUrl: baseUrl.optional() })
    .prefault({})
    .describe("Vercel AI Gateway, or what speaks its protocol"),
});

const claudeCode = z.strictObject({
  auth: z
    .enum(CLAUDE_CODE_AUTHS)
    .default("login")
    .describe("which single credential the process gets, and so who pays"),
  apiKey: secretReference.default("env:ANTHROPIC_API_KEY").describe("used with auth: api_key only"),
  oauthToken: secretReference.default("env:CLAUDE_CODE_OAUTH_TOKEN").describe("used with auth: oauth_token only"),
  baseUrl: baseUrl.optional().describe("used with auth: api_key only; a login is never sent elsewhere"),
  executable: z.string().min(1).optional().describe("a Claude Code binary other than the one that ships with Tandem"),
});

const models = z.strictObject({
  default: model.default("sonnet"),
  triage: model.optional(),
  candidateExtraction: model.optional(),
  curator: model.optional(),
  reconcile: model.optional(),
  repair: model.optional(),
});

const promptCaching = z.strictObject({
  enabled: z.boolean().default(true),
  systemTtl: cacheTtl.default("1h"),
  toolsTtl: cacheTtl.default("1h"),
  historyTtl: cacheTtl.default("5m"),
  vertexFallbackTo5m: z.boolean().default(false).describe("for Vertex regions that refuse the one-hour cache"),
});

const limits = z.strictObject({
  concurrency: z.int().min(1).max(64).default(4).describe("LLM calls at once; shrinks by itself under pressure"),
  attempts: z.int().min(1).max(20).default(5).describe("tries per model request, the first included"),
  patience: duration.default(300_000).describe("how long one call may wait for a quota to reset"),
  spawn: duration.default(15_000).describe("deadline for Claude Code to start"),
  init: duration.default(30_000).describe("deadline for Claude Code to be ready"),
  firstByte: duration.default(120_000).describe("deadline for the first sign of an answer"),
  idle: duration.default(120_000).describe("deadline between two signs of life while answering"),
  exit: duration.default(5_000).describe("deadline for Claude Code to exit before it is killed"),
});

const pool = z.strictObject({
  mode: z.enum(["reuse", "single-use", "off"]).default("reuse").describe("how warm Claude Code processes are used"),
  size: z.int().min(1).max(32).default(3).describe("warm processes at most"),
  maxCalls: z.int().min(1).default(50).describe("calls after which a process is replaced"),
  maxAge: duration.default(1_800_000).describe("age at which a process is replaced"),
  maxMemoryMb: z.int().min(150).default(300).describe("resident megabytes at which a process is replaced"),
  idle: duration.default(300_000).describe("how long an unused process is kept"),
});

const llm = z.strictObject({
  provider: provider.prefault({}),
  claudeCode: claudeCode.prefault({}),
  models: models.prefault({}),
  promptCaching: promptCaching.prefault({}),
  limits: limits.prefault({}),
  pool: pool.prefault({}),
});

/** The whole of `tandem.yaml`. Unknown keys are errors: a misspelt setting must not be silently without effect. */
export const configSchema = z.strictObject({ llm: llm.prefault({}) });
export type Config = z.output<typeof configSchema>;
export type LlmConfig = Config["llm"];

export const defaultConfig = (): Config => configSchema.parse({});
