import { join } from "node:path";
import { childVariables } from "../variables.ts";
import type { AllowedCall, ConversationSetup } from "./conversation.ts";

/** The environment of a conversation's process. */
export function conversationVariables(setup: ConversationSetup): Record<string, string> {
  const { credential, stateFolder, hostVariables, goOn } = setup;
  const configDir = credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
  const variables = { ...childVariables(hostVariables, credential, configDir, "session"), ...setup.variables };
  if (setup.builtinAgents) delete variables["CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"];
  return { ...variables, ...(goOn && resumeVariable(goOn.run)) };
}

const resumeVariable = (run: AllowedCall | undefined): Record<string, string> =>
  run ? { CLAUDE_CODE_RESUME_PROMPT: afterCall(run) } : { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1" };

/** Sent to the model after the result of a call that ran late. */
const afterCall = ({ notes = [] }: AllowedCall): string => [...notes, "Continue."].join("\n");
