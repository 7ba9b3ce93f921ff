import { childVariables, withoutHostOnly } from "../variables.ts";
import { configDirOf, processCredential } from "./config-dir.ts";
import type { AllowedCall, ConversationSetup } from "./conversation.ts";

/** The environment of a conversation's process. */
export function conversationVariables(setup: ConversationSetup): Record<string, string> {
  const { hostVariables, sandbox, continuation } = setup;
  const variables = childVariables(hostVariables, processCredential(setup), configDirOf(setup), "session");
  Object.assign(variables, setup.variables);
  if (setup.builtinAgents) delete variables["CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"];
  const all =
    sandbox?.on && sandbox.covers === "process" ? { ...withoutHostOnly(variables), ...sandbox.variables } : variables;
  return { ...all, ...(continuation && resumeVariable(continuation.run)) };
}

const resumeVariable = (run: AllowedCall | undefined): Record<string, string> =>
  run ? { CLAUDE_CODE_RESUME_PROMPT: afterCall(run) } : { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1" };

/** Sent to the model after the result of a call that ran late. */
const afterCall = ({ notes = [] }: AllowedCall): string => [...notes, "Continue."].join("\n");
