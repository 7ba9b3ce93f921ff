import type { WallOn } from "./sandbox-plan.ts";

/** The flags of every sandbox. The probe runs with the same ones. */
export const wallFlags = ({ disablesUserNamespaces }: Pick<WallOn, "disablesUserNamespaces">): string[] => [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-net",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  ...(disablesUserNamespaces ? ["--disable-userns"] : []),
  "--die-with-parent",
  // A session of its own has no controlling terminal into which it could type.
  "--new-session",
  "--cap-drop",
  "ALL",
  "--hostname",
  "tandem",
  "--clearenv",
];
