import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Options,
  query,
  type Query,
  type SDKUserMessage,
  type SessionStore,
} from "@anthropic-ai/claude-agent-sdk";
import { Child } from "../child.ts";
import { secretOf } from "../credential.ts";
import { TOOL_SERVER } from "../isolation.ts";
import { ProcessLedger } from "../process-ledger.ts";
import { createToolServer } from "../tool-server.ts";
import { dropForeignVariables } from "../variables.ts";
import type { ConversationSetup } from "./conversation.ts";
import type { Gate } from "./gate.ts";
import { connectedServers, hostServers } from "./host-servers.ts";
import { remoteServers, serverNames, sessionOptions } from "./session-options.ts";
import type { ToolNames } from "./translate/calls.ts";
import { setPriority } from "node:os";

/** People may take days to answer. Timers end at 24.8 days: one that is set for longer fires at once. */
const PATIENCE_MS = 21 * 24 * 60 * 60 * 1_000;

/** Our server has a name that none of the agent's has. */
export function toolNames(setup: ConversationSetup): ToolNames {
  const names = serverNames(setup);
  let customServer = TOOL_SERVER;
  while (names.includes(customServer)) customServer += "-";
  return { customServer, mcpServers: names };
}

/** Starts Claude Code with everything that a conversation gives it. */
export function startQuery(
  setup: ConversationSetup,
  parts: {
    variables: Record<string, string>;
    input: AsyncIterable<SDKUserMessage>;
    names: ToolNames;
    gate: Gate;
    transcripts: SessionStore;
    onSpawn: (child: Child) => void;
    /** For recordings of what a session does not ask for. */
    extra?: Partial<Options>;
  },
): Query {
  const { variables, names, gate } = parts;
  const ledger = new ProcessLedger(join(setup.stateFolder, "processes"));
  if (setup.credential.type !== "login") {
    mkdirSync(variables["CLAUDE_CONFIG_DIR"] ?? "", { recursive: true, mode: 0o700 });
    dropForeignVariables(variables);
  }
  const customTools = setup.customTools.map(({ name, description, input_schema: inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return query({
    prompt: parts.input,
    options: {
      ...sessionOptions(setup, variables),
      mcpServers: {
        ...remoteServers(setup),
        ...connectedServers(setup),
        ...hostServers(setup),
        ...(customTools.length > 0 && {
          [names.customServer]: createToolServer(
            customTools,
            (name, input, signal, toolUseId) => gate.callCustomTool(name, input, signal, toolUseId),
            { name: names.customServer, timeoutMs: PATIENCE_MS },
          ),
        }),
      },
      hooks: {
        PreToolUse: [{ hooks: [gate.beforeTool], timeout: PATIENCE_MS / 1_000, onFailure: "block" }],
        ...(gate.asksAfter && { PostToolUse: [{ hooks: [gate.afterTool], timeout: PATIENCE_MS / 1_000 }] }),
      },
      canUseTool: gate.canUseTool,
      sessionStore: parts.transcripts,
      sessionStoreFlush: "eager",
      loadTimeoutMs: setup.deadlines.init,
      spawnClaudeCodeProcess: (options) => {
        const child = new Child(ledger, options, secretOf(setup.credential));
        if (setup.yields && child.process.pid !== undefined) lowerPriority(child.process.pid);
        parts.onSpawn(child);
        return child.process;
      },
      ...parts.extra,
    },
  });
}

const NICENESS = 10;

/** Lets others have the processor before a child. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS);
    // On a Linux without control groups, a child that leads its own session is weighed as a group, by this number alone.
    if (process.platform === "linux") writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS));
  } catch {
    // It has ended already, or the kernel knows no such groups: then it is one among equals.
  }
}
