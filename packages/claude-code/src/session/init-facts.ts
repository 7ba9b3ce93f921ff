import type { SandboxState } from "@tandem/protocol";
import type { ConversationSandbox, ConversationSetup } from "./conversation.ts";
import type { TranslatorSettings } from "./translate/translator-settings.ts";

/**
 * Fields that `tandem.init` adds to Claude Code's own message. A required sandbox that is unavailable ends the process before its
 * first message.
 */
export const initFacts = ({ sandbox, trusted, agentSkills }: ConversationSetup): TranslatorSettings["facts"] => ({
  ...(sandbox && { sandbox: "state" in sandbox ? sandbox.state : stateOf(sandbox) }),
  ...((trusted || agentSkills) && { skills: [...(trusted?.skills ?? []), ...(agentSkills?.names ?? [])] }),
});

const stateOf = (sandbox: Exclude<ConversationSandbox, { covers: "process" }>): SandboxState =>
  sandbox.on ? { on: true } : sandbox;
