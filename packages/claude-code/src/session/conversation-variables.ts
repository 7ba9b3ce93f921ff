import { childVariables } from "../variables.ts";
import { configDirOf, processCredential } from "./config-dir.ts";
import type { AllowedCall, ConversationSetup } from "./conversation.ts";

/** Variables with paths and addresses of the host, which a sandbox has not. */
const HOST_ONLY = `TMPDIR TMP TEMP HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR`.split(/\s+/);

/** The environment of a conversation's process. */
export function conversationVariables(setup: ConversationSetup): Record<string, string> {
  const { hostVariables, sandbox, goOn } = setup;
  const variables = childVariables(hostVariables, processCredential(setup), configDirOf(setup), "session");
  Object.assign(variables, setup.variables);
  if (setup.builtinAgents) delete variables["CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"];
  if (sandbox?.on && sandbox.covers === "process") {
    for (const name of HOST_ONLY) delete variables[name];
    Object.assign(variables, sandbox.variables);
  }
  return { ...variables, ...(goOn && resumeVariable(goOn.run)) };
}

const resumeVariable = (run: AllowedCall | undefined): Record<string, string> =>
  run ? { CLAUDE_CODE_RESUME_PROMPT: afterCall(run) } : { CLAUDE_CODE_RESUME_INTERRUPTED_TURN: "1" };

/** Sent to the model after the result of a call that ran late. */
const afterCall = ({ notes = [] }: AllowedCall): string => [...notes, "Continue."].join("\n");
