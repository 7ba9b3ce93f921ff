import { userInfo } from "node:os";

/** The local user's name in the audit. */
export function localActor(): string {
  try {
    return `local:${userInfo().username}`;
  } catch {
    // Some containers have a uid without a user name.
    return `local:${process.getuid?.() ?? "user"}`;
  }
}
