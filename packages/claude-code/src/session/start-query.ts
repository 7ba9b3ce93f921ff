import { mkdirSync } from "node:fs";
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
import { ProcessLedger } from "../processes/process-ledger.ts";
import { createToolServer } from "../tool-server.ts";
import { dropForeignVariables } from "../variables.ts";
import type { BootHooks } from "./allowed-call.ts";
import { isSandboxed, processCredential } from "./config-dir.ts";
import type { ConversationSetup } from "./conversation.ts";
import type { Gate } from "./gate.ts";
import { refuseWorktree, type LeafGate } from "./leaf-gate.ts";
import { connectedServers, hostServers } from "./host-servers.ts";
import { remoteServers, sessionOptions } from "./process-options.ts";
import { processPlan } from "./process-plan.ts";
import type { ToolNames } from "./translate/calls.ts";

/** People may take days to answer. Timers overflow at 24.8 days and would fire at once. */
const APPROVAL_TIMEOUT_MS = 21 * 24 * 60 * 60 * 1_000;

/** Starts Claude Code with the options of a conversation. */
export function startQuery(
  setup: ConversationSetup,
  parts: {
    variables: Record<string, string>;
    input: AsyncIterable<SDKUserMessage>;
    names: ToolNames;
    gate: Gate;
    leaves: LeafGate;
    transcripts: SessionStore;
    onSpawn: (child: Child) => void;
    /** Hooks that must be there when the process boots. */
    bootHooks?: BootHooks;
    /** Extra options for recordings, beyond those of a session. */
    extra?: Partial<Options>;
  },
): Query {
  const { variables, names, gate } = parts;
  const ledger = new ProcessLedger(join(setup.stateFolder, "processes"));
  if (isSandboxed(setup) || setup.credential.type !== "login") {
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
      ...sessionOptions(setup, variables, parts.bootHooks?.hooks ?? {}),
      mcpServers: {
        ...remoteServers(setup),
        ...connectedServers(setup, gate.passed),
        ...hostServers(setup, gate.passed),
        ...(names.workerServer !== undefined && {
          [names.workerServer]: createToolServer(
            setup.workerTools ?? [],
            (name, input, signal, toolUseId) => gate.callWorker(name, input, signal, toolUseId),
            { name: names.workerServer, timeoutMs: APPROVAL_TIMEOUT_MS },
          ),
        }),
        ...(customTools.length > 0 && {
          [names.customServer]: createToolServer(
            customTools,
            (name, input, signal, toolUseId) => gate.callCustomTool(name, input, signal, toolUseId),
            { name: names.customServer, timeoutMs: APPROVAL_TIMEOUT_MS },
          ),
        }),
      },
      hooks: {
        PreToolUse: [{ hooks: [gate.beforeTool], timeout: APPROVAL_TIMEOUT_MS / 1_000, onFailure: "block" }],
        ...(setup.workflows && {
          SubagentStart: [{ hooks: [parts.leaves.starting], timeout: APPROVAL_TIMEOUT_MS / 1_000 }],
          WorktreeCreate: [{ hooks: [refuseWorktree] }],
        }),
        ...(gate.asksAfter && { PostToolUse: [{ hooks: [gate.afterTool], timeout: APPROVAL_TIMEOUT_MS / 1_000 }] }),
        ...(gate.asksAfterFailure && { PostToolUseFailure: [{ hooks: [gate.afterFailure], timeout: 10 }] }),
      },
      canUseTool: gate.canUseTool,
      sessionStore: parts.transcripts,
      sessionStoreFlush: "eager",
      loadTimeoutMs: setup.deadlines.init,
      spawnClaudeCodeProcess: (options) => {
        const child = new Child(ledger, options, {
          secret: secretOf(processCredential(setup)),
          yields: setup.yields === true,
          sandbox: processPlan(setup, { env: options.env, bootHooks: parts.bootHooks }),
        });
        parts.onSpawn(child);
        return child.process;
      },
      ...parts.extra,
    },
  });
}
