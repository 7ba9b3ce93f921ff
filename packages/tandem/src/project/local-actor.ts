import { userInfo } from "node:os";

/** Who runs this command, as the audit names them. */
export function localActor(): string {
  try {
    return `local:${userInfo().username}`;
  } catch {
    // A user without a name, as in some containers.
    return `local:${process.getuid?.() ?? "user"}`;
  }
}
