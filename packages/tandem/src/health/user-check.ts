import { existsSync } from "node:fs";
import type { Outcome, Check } from "./check.ts";
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
}): Outcome | undefined {
  if (uid !== 0)
    return isContainer
      ? ok(`User ${uid ?? "unknown"}, in a container; every permission mode is available.`)
      : undefined;
  if (isDisposable) {
    return ok("Root, in a disposable sandbox (IS_SANDBOX=1): every permission mode is available.");
  }
  return warning(
    `Root${isContainer ? ", in a container" : ""}: allowed tools run as root. ` +
      "Tandem and Claude Code refuse the mode bypass permissions for root.",
    isContainer
      ? "Run the container as another user (the image's own is not root), or start it with IS_SANDBOX=1 if it is disposable."
      : "Run it as another user, or allow calls with rules (`tandem rules add`). Set IS_SANDBOX=1 only on a disposable machine.",
  );
}
