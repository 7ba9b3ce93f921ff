import { ClaudeCode, type Credential, type PoolLimit } from "@tandem/claude-code";
import { type LlmConfig, LlmError } from "@tandem/protocol";
import type { BackendCall, LlmBackend } from "../../llm-backend.ts";
import { orAborted } from "../../or-aborted.ts";

/** Adapts the user's Claude Code (see `packages/claude-code`) to `LlmBackend`. */
export function createClaudeCodeBackend(
  config: LlmConfig,
  environment: {
    credential: Credential;
    stateFolder: string;
    hostVariables: Readonly<Record<string, string | undefined>>;
    limit?: PoolLimit;
  },
): LlmBackend {
  const { executable, effort } = config.claudeCode;
  const { spawn, init, firstByte, idle, exit } = config.limits;
  const claudeCode = new ClaudeCode({
    ...environment,
    ...(executable && { executable }),
    ...(effort && { effort }),
    pool: config.pool,
    deadlines: { spawn, init, firstByte, idle, exit },
  });
  return {
    name: "claude-code",
    payer: claudeCode.payer,
    text: (call) => claudeCode.text(withoutTemperature(call)),
    object: (call) => claudeCode.object(withoutTemperature(call)),
    loop: (call) => claudeCode.loop(withoutTemperature(call)),
    listModels: async (signal) => {
      try {
        return await orAborted(claudeCode.listModels(signal), signal);
      } catch (cause) {
        throw signal.aborted
          ? new LlmError("aborted", "The request for the list of models was aborted.", { cause })
          : cause;
      }
    },
    close: () => claudeCode.close(),
  };
}

function withoutTemperature<T extends BackendCall>(call: T): T {
  if (call.temperature !== undefined) call.onIgnored("temperature", "Claude Code has no such option.");
  return call;
}
