import { userInfo } from "node:os";

/** The local user's name in the audit. */
export const localActor = (): string => `local:${userName()}`;

/** The name of this process' user. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // Some containers have a uid without a user name.
    return String(process.getuid?.() ?? "user");
  }
}
