import { z } from "zod";
import { deadline, duration } from "./duration.ts";
import { limits } from "./limits.ts";
import { PERMISSION_MODES, rule } from "./rule.ts";
import { hostPattern, sandboxMount } from "./sandbox-config.ts";
import { secretReference } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";
import { WEBHOOK_EVENTS } from "../webhooks/webhook-event.ts";

// Permissions, limits and notifications. Protective settings need trust as much as dangerous ones: an untrusted file must not
// be able to remove them.

// Without the API's schema name, so that the schema of the file describes the keys in place.
export const rulesSection = z.array(z.strictObject(rule.shape)).meta(needsTrust());

export const approvalsSection = z
  .strictObject({
    expire: deadline.optional().describe("Time until an unanswered call is denied. Default: no limit."),
    keepProcess: deadline
      .prefault("10m")
      .describe("Time that a waiting session keeps its process. A later answer starts a new one."),
  })
  .meta(needsTrust());

// Without the API's schema name: here each limit is a separate setting with its own trust.
const { usd, tokens, seconds, turns, requests } = limits.shape;
const budget = z.strictObject({
  usd: usd.describe("Dollars, such as 2.5."),
  tokens: tokens.describe("Tokens of all kinds."),
  seconds: seconds.describe("Seconds of active time."),
  turns: turns.describe("Turns."),
  requests: requests.describe("Requests to a model."),
});

export const budgetsSection = z
  .strictObject({
    turn: budget.prefault({}).describe("Limits of one turn."),
    session: budget.prefault({}).describe("Limits of one session, unless it has its own."),
    agent: budget.prefault({}).describe("Limits of all sessions of one agent together."),
    project: budget.prefault({}).describe("Limits of all sessions of the project together."),
    day: budget.prefault({}).describe("Limits of all sessions per day."),
  })
  .meta(needsTrust());

export const NOTIFY_EVENTS = ["approval", "completed", "failed"] as const;

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("URL of the webhook."),
  secret: secretReference.optional().describe("Secret reference to the signing key."),
  on: z.array(z.enum(NOTIFY_EVENTS)).min(1).default(["approval", "failed"]).describe("Events to send."),
});

export const notifySection = z.strictObject({
  webhooks: z
    .array(webhook)
    .default([])
    .meta(needsTrust())
    .describe("Deprecated: use `webhooks`, whose deliveries have another body and signature."),
  desktop: z
    .boolean()
    .default(false)
    .meta(harmless("Shown on this machine only."))
    .describe("Whether to show desktop notifications on this machine."),
});

const bot = z.strictObject({
  remote: z
    .url({ protocol: /^https?$/ })
    .describe("Address of the repository, such as `https://github.com/acme/app`. A `*` at its end fits every ending."),
  token: secretReference.describe("Secret reference to the bot's token."),
  name: z.string().min(1).max(100).describe("The bot's name in commits."),
  email: z.email().describe("The bot's address in commits."),
  api: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address of GitHub's API, for pull requests. Default: derived from `remote`."),
});

export const botsSection = z.array(bot).meta(needsTrust());

const webhookEndpoint = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("URL of the endpoint."),
  events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).describe("Event types to send, such as `session.status_idled`."),
  secret: secretReference.describe("Secret reference to the signing secret: `whsec_` and base64."),
  name: z.string().max(100).default("").describe("Name for lists."),
});

export const webhooksSection = z.array(webhookEndpoint).meta(needsTrust());

const HOOK_EVENTS = ["sessionStart", "prompt", "beforeTool", "afterTool"] as const;

const hook = z
  .strictObject({
    name: z.string().min(1).describe("Name for the log."),
    on: z.enum(HOOK_EVENTS).describe("Event that triggers the hook."),
    tool: z.string().min(1).optional().describe("Only for this tool, as in a rule."),
    command: z.array(z.string()).min(1).optional().describe("Program and arguments; receives JSON on stdin."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("URL that receives the JSON by POST."),
    timeout: deadline.prefault("10s").describe("Timeout."),
    failure: z.enum(["block", "ignore"]).default("block").describe("Effect of a failed hook or timeout on the call."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), "expected `command` or `url`");
export type HookConfig = z.output<typeof hook>;

export const hooksSection = z.array(hook).meta(needsTrust());

const mcpServer = z
  .strictObject({
    command: z.string().min(1).optional().describe("Local MCP server on stdio."),
    args: z.array(z.string()).default([]).describe("Arguments of the program."),
    env: z.record(z.string(), secretReference).default({}).describe("Environment variables, each a secret reference."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("URL of an MCP server over HTTP."),
    headers: z.record(z.string(), secretReference).default({}).describe("Headers, each a secret reference."),
    timeout: deadline.optional().describe("Timeout of a call. Default: `sessions.mcpTimeout`."),
    sandbox: z
      .enum(["on", "off"])
      .default("on")
      .describe("`off` runs a local server outside of the sandbox, as a trusted program."),
    write: z.boolean().default(false).describe("Whether a local server may write in the project's folder."),
    hosts: z
      .array(hostPattern)
      .optional()
      .describe("Hosts that a local server may connect to. Default: all public hosts."),
    mounts: z.array(sandboxMount).default([]).describe("Folders and files that a local server also sees."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), "expected `command` or `url`");

export const mcpServersSection = z.record(z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/), mcpServer).meta(needsTrust());

export const checkpointsSection = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe("Whether to save a checkpoint of the working folder before and after each turn."),
    maxFileMb: z
      .int()
      .min(1)
      .max(1_024)
      .default(10)
      .describe("Maximum size of a file. Larger files are skipped and listed."),
    maxFiles: z
      .int()
      .min(100)
      .max(1_000_000)
      .default(50_000)
      .describe("Maximum number of files. Larger folders get no checkpoints."),
    maxTotalMb: z.int().min(10).default(2_048).describe("Maximum total size. The oldest checkpoints are pruned first."),
    keep: duration.prefault("14d").describe("Maximum age of a checkpoint."),
  })
  .meta(needsTrust());

export const worktreesSection = z
  .strictObject({
    copy: z
      .array(z.string().min(1))
      .default([])
      .describe("Untracked files to copy into a worktree, such as `.env`, in addition to `.worktreeinclude`."),
    setup: z.string().min(1).optional().describe("Shell command that prepares a new worktree, such as `npm ci`."),
    setupTimeout: deadline.prefault("10m").describe("Timeout."),
    ports: z
      .strictObject({
        from: z.int().min(1_024).max(65_000).default(20_000).describe("First port of the first block."),
        size: z.int().min(1).max(100).default(10).describe("Number of ports per worktree."),
      })
      .prefault({})
      .describe("Ports of worktrees. Each gets its own block, in `TANDEM_PORT` and `TANDEM_PORT_COUNT`."),
    removeAtArchive: z
      .boolean()
      .default(false)
      .describe("Whether to remove the worktree of an archived session if it contains no unsaved work."),
  })
  .meta(needsTrust());

export const permissionMode = z.enum(PERMISSION_MODES);
