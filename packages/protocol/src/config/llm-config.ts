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
  cacheSystem: z.boolean().default(true).describe("Whether the system prompt is cached."),
  cacheTools: z.boolean().default(true).describe("Whether the tool definitions are cached."),
  cacheHistory: z.boolean().default(true).describe("Whether the conversation so far is cached."),
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

export const llmSection = z.strictObject({
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
