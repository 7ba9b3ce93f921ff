import { z } from "zod";
import { deadline, duration } from "./duration.ts";
import { limits } from "./limits.ts";
import { PERMISSION_MODES, rule } from "./rule.ts";
import { secretReference } from "./secret-reference.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

// Permissions, limits and notifications. Protective settings need trust as much as dangerous ones: an untrusted file must not
// be able to remove them.

export const rulesSection = z.array(rule).meta(needsTrust());

export const approvalsSection = z
  .strictObject({
    expire: deadline
      .optional()
      .describe("How long a call waits for an answer before it is denied; without it, for as long as it takes."),
    keepProcess: deadline
      .prefault("10m")
      .describe("How long a session that waits keeps its process; the answer finds another then."),
  })
  .meta(needsTrust());

// Without the API's schema name: here each limit is a separate setting with its own trust.
const { usd, tokens, seconds, turns, requests } = limits.shape;
const budget = z.strictObject({
  usd: usd.describe("Dollars, such as 2.5."),
  tokens: tokens.describe("Tokens of all kinds."),
  seconds: seconds.describe("Seconds of work."),
  turns: turns.describe("Turns."),
  requests: requests.describe("Requests to a model."),
});

export const budgetsSection = z
  .strictObject({
    turn: budget.prefault({}).describe("What one turn may take."),
    session: budget.prefault({}).describe("What one session may take, unless it has limits of its own."),
    agent: budget.prefault({}).describe("What all sessions of one agent may take together."),
    project: budget.prefault({}).describe("What all sessions of the project may take together."),
    day: budget.prefault({}).describe("What all sessions may take in one day."),
  })
  .meta(needsTrust());

export const NOTIFY_EVENTS = ["approval", "completed", "failed"] as const;

const webhook = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("Where it is sent."),
  secret: secretReference.optional().describe("Where the key is kept that it is signed with."),
  on: z.array(z.enum(NOTIFY_EVENTS)).min(1).default(["approval", "failed"]).describe("What it is told of."),
});

export const notifySection = z.strictObject({
  webhooks: z.array(webhook).default([]).meta(needsTrust()).describe("Who is told over HTTP."),
  desktop: z
    .boolean()
    .default(false)
    .meta(harmless("Shown on this machine only."))
    .describe("Whether this machine's desktop shows a notification."),
});

export const HOOK_EVENTS = ["sessionStart", "prompt", "beforeTool", "afterTool"] as const;

const hook = z
  .strictObject({
    name: z.string().min(1).describe("For the log."),
    on: z.enum(HOOK_EVENTS).describe("When it is asked."),
    tool: z.string().min(1).optional().describe("Only about this tool; as in a rule."),
    command: z.array(z.string()).min(1).optional().describe("A program and its arguments; gets JSON on stdin."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("An address that gets the JSON by POST."),
    timeout: deadline.prefault("10s").describe("How long it may take."),
    failure: z
      .enum(["block", "ignore"])
      .default("block")
      .describe("What becomes of the call where the hook fails or takes too long."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), "expected `command` or `url`");
export type HookConfig = z.output<typeof hook>;

export const hooksSection = z.array(hook).meta(needsTrust());

const mcpServer = z
  .strictObject({
    command: z.string().min(1).optional().describe("A local program that speaks MCP on stdio."),
    args: z.array(z.string()).default([]).describe("Its arguments."),
    env: z.record(z.string(), secretReference).default({}).describe("Its variables: where each value is kept."),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("A server over HTTP."),
    headers: z.record(z.string(), secretReference).default({}).describe("Headers: where each value is kept."),
    timeout: deadline.optional().describe("How long a call may take; without it, `sessions.mcpTimeout`."),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), "expected `command` or `url`");
export type McpServerConfig = z.output<typeof mcpServer>;

export const mcpServersSection = z.record(z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/), mcpServer).meta(needsTrust());

export const checkpointsSection = z
  .strictObject({
    enabled: z.boolean().default(true).describe("Whether the working folder is kept before and after each turn."),
    maxFileMb: z.int().min(1).max(1_024).default(10).describe("Larger files are left out, and listed."),
    maxFiles: z.int().min(100).max(1_000_000).default(50_000).describe("In a folder with more, nothing is kept."),
    maxTotalMb: z.int().min(10).default(2_048).describe("Of all that is kept; the oldest goes first."),
    keep: duration.prefault("14d").describe("How long."),
  })
  .meta(needsTrust());

export const worktreesSection = z
  .strictObject({
    copy: z
      .array(z.string().min(1))
      .default([])
      .describe("Files that git does not have and a worktree needs, such as `.env`; beside `.worktreeinclude`."),
    setup: z.string().min(1).optional().describe("A shell command that makes a new worktree ready, such as `npm ci`."),
    setupTimeout: deadline.prefault("10m").describe("How long it may take."),
    ports: z
      .strictObject({
        from: z.int().min(1_024).max(65_000).default(20_000).describe("The first port of the first block."),
        size: z.int().min(1).max(100).default(10).describe("Ports of one worktree."),
      })
      .prefault({})
      .describe("Each worktree has ports of its own, in `TANDEM_PORT` and `TANDEM_PORT_COUNT`."),
    removeAtArchive: z
      .boolean()
      .default(false)
      .describe("Whether an archived session's worktree goes, if all work in it is somewhere else too."),
  })
  .meta(needsTrust());

export const sandboxSection = z
  .strictObject({
    mode: z
      .enum(["off", "try", "require"])
      .default("off")
      .describe("Whether shell commands run in a sandbox of the operating system; `require` refuses to run without."),
    domains: z.array(z.string().min(1)).default([]).describe("Where commands in it may connect to."),
  })
  .meta(needsTrust());

export const permissionMode = z.enum(PERMISSION_MODES);
