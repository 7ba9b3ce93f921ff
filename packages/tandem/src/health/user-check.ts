import { existsSync } from "node:fs";
import type { Finding, Check } from "./check.ts";
import { ok, warning } from "./check.ts";

/** Marker files of Docker and Podman containers. */
const MARKS = ["/.dockerenv", "/run/.containerenv"];

/** A session of root can change anything on the machine. */
export const user: Check = {
  name: "user",
  async run({ host }) {
    const { hostAccount } = await import("@tandem/policy");
    return judgeUser({ ...hostAccount(host.env), isContainer: MARKS.some((mark) => existsSync(mark)) });
  },
};

/** Judges the user that runs Tandem. Undefined for a regular user outside a container. */
export function judgeUser({
  uid,
  isDisposable,
  isContainer,
}: {
  uid: number | undefined;
  isDisposable: boolean;
  isContainer: boolean;
}): Finding | undefined {
  if (uid !== 0)
    return isContainer ? ok(`User ${uid ?? "unknown"}, in a container; every mode may be used.`) : undefined;
  if (isDisposable) {
    return ok(
      "Root, in a sandbox that may be thrown away (IS_SANDBOX=1): every mode may be used, bypassPermissions too.",
    );
  }
  return warning(
    `Root${isContainer ? ", in a container" : ""}: tools that are allowed act with root's rights. ` +
      "Every mode may be used but bypassPermissions, which Tandem and Claude Code refuse to root.",
    isContainer
      ? "Run the container as another user (the image's own is not root), or start it with IS_SANDBOX=1 if it may be thrown away."
      : "Run it as another user, or allow what you need by rules (`tandem rules add`). Set IS_SANDBOX=1 only where all may be lost.",
  );
}
