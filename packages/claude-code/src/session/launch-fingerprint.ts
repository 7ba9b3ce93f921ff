import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { secretOf } from "../credential.ts";
import { processCredential } from "./config-dir.ts";
import type { ConversationSetup } from "./conversation.ts";
import { conversationVariables } from "./conversation-variables.ts";
import { programPath, sessionOptions } from "./process-options.ts";

/**
 * Identifies everything that is fixed when a process starts, with the contents of the files that it gets and the identity of
 * those that it sees. Setups with the same value start the same process; only the host's callbacks may differ.
 */
export function launchFingerprint(setup: ConversationSetup): string {
  const options = sessionOptions(setup, conversationVariables(setup), {});
  const program = statSync(programPath(setup));
  const parts = [setup, options, secretOf(processCredential(setup)), program.ino, program.mtimeMs, fileIds(setup)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A file or folder that was replaced since is another one under the same path; a running process still sees the former. */
function fileIds({ folder, sandbox }: ConversationSetup): (string | null)[] {
  const mounts = sandbox?.on && sandbox.covers === "process" ? sandbox.plan.mounts : [];
  const paths = [folder, ...mounts.flatMap((mount) => ("from" in mount ? [mount.from] : []))];
  return paths.map((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.dev}:${found.ino}` : null;
  });
}
