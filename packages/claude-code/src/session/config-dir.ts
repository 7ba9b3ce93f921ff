import { join } from "node:path";
import type { Credential } from "../credential.ts";
import type { ConversationSetup } from "./conversation.ts";

type ConfigSource = Pick<ConversationSetup, "credential" | "stateFolder" | "sandbox">;

/** Whether the whole process runs in a sandbox. */
export const isSandboxed = ({ sandbox }: Pick<ConfigSource, "sandbox">): boolean =>
  sandbox?.on === true && sandbox.covers === "process";

/** The credential that the process itself has. */
export const processCredential = ({ credential, sandbox }: Pick<ConfigSource, "credential" | "sandbox">): Credential =>
  sandbox?.on && sandbox.covers === "process" ? sandbox.credential : credential;

/**
 * The folder of Claude Code's state: the session's own in a sandbox, else the user's for a login (undefined: the one in the
 * home) and a private one for other credentials.
 */
export function configDirOf({ credential, stateFolder, sandbox }: ConfigSource): string | undefined {
  if (sandbox?.on && sandbox.covers === "process") return sandbox.configDir;
  return credential.type === "login" ? credential.configDir : join(stateFolder, "claude-code");
}
