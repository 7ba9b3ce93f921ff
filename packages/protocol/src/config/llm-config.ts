import { z } from "zod";
import { deadline, duration } from "./duration.ts";
import { secretReference } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

export const BACKENDS = ["none", "anthropic", "vertex", "gateway", "claude-code"] as const;
export type Backend = (typeof BACKENDS)[number];

/** The purposes of LLM calls. The config sets a model per role; `default` serves the others. */
export const ROLES = ["default", "triage", "candidateExtraction", "curator", "reconcile", "repair"] as const;
export type Role = (typeof ROLES)[number];

/** Which single credential Claude Code gets: the user's own login, an API key, or a long-lived OAuth token. */
export const CLAUDE_CODE_AUTHS = ["login", "api_key", "oauth_token"] as const;
export type ClaudeCodeAuth = (typeof CLAUDE_CODE_AUTHS)[number];

export const baseUrl = z
  .url({ protocol: /^https?$/, error: "expected a URL that starts with https:// or http://" })
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
    .describe("Model backend."),
  anthropic: z
    .strictObject({
      apiKey: secretReference.default("env:ANTHROPIC_API_KEY").describe("Secret reference to the API key."),
      baseUrl: baseUrl.optional().describe("Base URL, if not Anthropic's."),
    })
    .prefault({})
    .describe("Anthropic's API."),
  vertex: z
    .strictObject({
      project: googleProject.optional().describe("Google Cloud project that is called and billed."),
      location: googleLocation.default("global").describe("A Vertex AI region, or `global`."),
      credentials: secretReference
        .optional()
        .describe("Secret reference to a service account's JSON. Default: Google's application default credentials."),
      baseUrl: baseUrl.optional().describe("Base URL, if not Google's."),
    })
    .prefault({})
    .describe("Claude on Google Vertex AI."),
  gateway: z
    .strictObject({
      apiKey: secretReference.default("env:AI_GATEWAY_API_KEY").describe("Secret reference to the gateway's key."),
      baseUrl: baseUrl.optional().describe("Base URL, if not Vercel's."),
    })
    .prefault({})
    .describe("Vercel AI Gateway, or a compatible service."),
});

const claudeCode = z.strictObject({
  auth: z
    .enum(CLAUDE_CODE_AUTHS)
    .default("login")
    .meta(needsTrust())
    .describe("Credential of Claude Code, which decides who is billed."),
  apiKey: secretReference
    .default("env:ANTHROPIC_API_KEY")
    .describe("Secret reference to the API key; only with `auth: api_key`."),
  oauthToken: secretReference
    .default("env:CLAUDE_CODE_OAUTH_TOKEN")
    .describe("Secret reference to the token of `claude setup-token`; only with `auth: oauth_token`."),
  baseUrl: baseUrl
    .optional()
    .describe("Base URL, if not Anthropic's; only with `auth: api_key`. A login is never sent elsewhere."),
  executable: z
    .string()
    .min(1)
    .meta(needsTrust())
    .optional()
    .describe("Path of a Claude Code binary to use instead of the included one."),
  effort: z
    .enum(["low", "medium", "high"])
    .meta(harmless("The same account is billed; budgets limit it."))
    .optional()
    .describe("Reasoning effort. Default: the model's default in Claude Code."),
});

const models = z.strictObject({
  default: model.default("sonnet").describe("Default model, for every role without its own."),
  triage: model.optional().describe("Quick relevance check."),
  candidateExtraction: model.optional().describe("Reading sources and proposing candidates."),
  curator: model.optional().describe("Deciding which candidates enter the context."),
  reconcile: model.optional().describe("Resolving contradictions."),
  repair: model.optional().describe("Fixing output that failed a check."),
});

const promptCaching = z.strictObject({
  enabled: z.boolean().default(true).describe("Whether prompts are marked for the service's cache."),
  cacheSystem: z.boolean().default(true).describe("Whether the system prompt is cached."),
  cacheTools: z.boolean().default(true).describe("Whether the tool definitions are cached."),
  cacheHistory: z.boolean().default(true).describe("Whether the conversation so far is cached."),
  systemTtl: cacheTtl.default("1h").describe("Cache lifetime of the system prompt."),
  toolsTtl: cacheTtl.default("1h").describe("Cache lifetime of the tool definitions."),
  historyTtl: cacheTtl.default("5m").describe("Cache lifetime of the conversation so far."),
  vertexFallbackTo5m: z.boolean().default(false).describe("For Vertex regions without the one-hour cache."),
});

const limits = z.strictObject({
  concurrency: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe("Number of concurrent model calls; reduced automatically under load."),
  attempts: z.int().min(1).max(20).default(5).describe("Attempts per model request, including the first."),
  patience: duration.prefault("5m").describe("Time that one call may wait for a quota reset."),
  spawn: deadline.prefault("15s").describe("Timeout for Claude Code to start."),
  init: deadline.prefault("30s").describe("Timeout for Claude Code to be ready."),
  firstByte: deadline.prefault("2m").describe("Timeout for the first byte of an answer."),
  idle: deadline.prefault("2m").describe("Timeout between two chunks of an answer."),
  exit: deadline.prefault("5s").describe("Time for Claude Code to exit before it is killed."),
});

const pool = z.strictObject({
  mode: z
    .enum(["reuse", "single-use", "off"])
    .default("reuse")
    .describe("Whether warm Claude Code processes serve many calls, one call each, or none."),
  size: z.int().min(1).max(32).default(4).describe("Maximum number of warm processes."),
  maxCalls: z.int().min(1).default(50).describe("Number of calls after which a process is replaced."),
  maxAge: deadline.prefault("30m").describe("Age at which a process is replaced."),
  maxMemoryMb: z.int().min(150).default(280).describe("Memory in megabytes at which a process is replaced."),
  idle: deadline.prefault("5m").describe("Time that an unused process is kept."),
});

export const llmSection = z.strictObject({
  provider: provider.prefault({}).describe("Model backend and its connection."),
  claudeCode: claudeCode.prefault({}).describe("The `claude-code` backend."),
  models: models
    .prefault({})
    .meta(harmless("The same account is billed; budgets limit it."))
    .describe("Model of each role."),
  promptCaching: promptCaching
    .prefault({})
    .meta(harmless("The same service gets the same prompts."))
    .describe("The service's prompt cache."),
  limits: limits
    .prefault({})
    .meta(harmless("Retries and waits of calls that the user makes."))
    .describe("Concurrency, retries and timeouts."),
  pool: pool.prefault({}).meta(harmless("Bounded resources of this machine.")).describe("Warm Claude Code processes."),
});
