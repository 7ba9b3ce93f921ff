import type { WallProblem } from "./sandbox-plan.ts";

interface Explanation {
  code: WallProblem;
  reason: string;
  fix: string;
}

/** Messages of bubblewrap with their causes. The first match counts. */
const CAUSES: readonly (Explanation & { said: RegExp })[] = [
  {
    said: /namespaces exceeded|No space left on device|ENOSPC/i,
    code: "namespaces_exhausted",
    reason: "The kernel has reached its limit of user namespaces.",
    fix: "Raise it, for example with `sysctl user.max_user_namespaces=15000`; inside another sandbox, use that one.",
  },
  {
    said: /No permissions to create|Creating new namespace failed: Operation not permitted|unprivileged_userns_clone/i,
    code: "namespaces_forbidden",
    reason: "The kernel or the container forbids user namespaces.",
    fix:
      "In a container, use a seccomp profile that allows `clone`, `unshare` and `mount`. On Debian, run " +
      "`sysctl kernel.unprivileged_userns_clone=1`. Else use one container for each tenant.",
  },
  {
    said: /uid map: Permission denied|loopback: Failed RTM_NEWADDR/i,
    code: "apparmor_restricts",
    reason: "AppArmor forbids user namespaces for bubblewrap, as Ubuntu does since 23.10.",
    fix: "Add an AppArmor profile for bwrap that contains `userns,` (Ubuntu: package apparmor-profiles), and reload AppArmor.",
  },
  {
    said: /uid map: Operation not permitted/i,
    code: "setfcap_missing",
    reason: "The server runs as root without the capability CAP_SETFCAP.",
    fix: "Run the server as another user, or add the capability SETFCAP to the container.",
  },
  {
    said: /Can't mount proc/i,
    code: "proc_masked",
    reason: "The container masks parts of /proc, so the kernel refuses a new one.",
    fix: "Run the container with an unmasked /proc (Docker: `--security-opt systempaths=unconfined`), or outside of another sandbox.",
  },
];

/** The cause of a missing sandbox, from the message of bubblewrap or, with a code, from the probe itself. */
export function wallProblem(
  code: "unsupported_system" | "unsupported_processor" | "bubblewrap_missing" | undefined,
  said: string,
): Explanation {
  switch (code) {
    case "unsupported_system":
      return {
        code,
        reason: `There is no sandbox for ${said}.`,
        fix: "Run Tandem on Linux, for example in a virtual machine.",
      };
    case "unsupported_processor":
      return {
        code,
        reason: `There is no system call filter for ${said} processors.`,
        fix: "Use an x64 or arm64 machine.",
      };
    case "bubblewrap_missing":
      return {
        code,
        reason: "bubblewrap is not installed.",
        fix: "Install the packages bubblewrap and socat, for example with `apt install bubblewrap socat`.",
      };
    case undefined: {
      const cause = CAUSES.find((each) => each.said.test(said));
      if (cause) return { code: cause.code, reason: cause.reason, fix: cause.fix };
      const line = said.split("\n")[0]!.replace(/^bwrap: /, "");
      return {
        code: "bubblewrap_fails",
        reason: `bubblewrap does not work here (${line}).`,
        fix: "Run `bwrap --unshare-user --unshare-pid --proc /proc --ro-bind / / true` to see the cause.",
      };
    }
  }
}
