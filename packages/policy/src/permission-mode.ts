import { PERMISSION_MODES, RequestError, SESSION_METADATA, type PermissionMode } from "@tandem/protocol";

/** Who runs the server, and whether it says that nothing but this machine is at stake. */
export interface HostAccount {
  uid: number | undefined;
  /** `IS_SANDBOX`, which Claude Code knows too: a container that may be thrown away. */
  isDisposable: boolean;
}

export const hostAccount = (variables: Readonly<Record<string, string | undefined>>): HostAccount => ({
  uid: process.getuid?.(),
  isDisposable: variables["IS_SANDBOX"] === "1",
});

/** A mode that there is, and that whoever runs the server may have. Refused otherwise, with the way out. */
export function checkMode(mode: string, standing: HostAccount, place: string): PermissionMode {
  const known = PERMISSION_MODES.find((each) => each === mode);
  if (!known) throw new RequestError("invalid_request", `${place}: expected ${PERMISSION_MODES.join(", ")}.`);
  if (known !== "bypassPermissions" || standing.uid !== 0 || standing.isDisposable) return known;
  throw new RequestError(
    "forbidden",
    `${place}: bypassPermissions is refused to root: a command that nobody was asked about could do anything to this machine.`,
    {
      fix:
        "Run Tandem as another user, or allow what you need by rules (`tandem rules add`). " +
        "In a container that may be thrown away, start it with IS_SANDBOX=1.",
    },
  );
}

/** The same of a session's metadata. */
export function checkModeOf(metadata: Record<string, string>, standing: HostAccount): void {
  const mode = metadata[SESSION_METADATA.permissionMode];
  if (mode !== undefined) checkMode(mode, standing, `metadata.${SESSION_METADATA.permissionMode}`);
}

/** What a conversation under another agent must not inherit: nobody has let that agent do it. */
export function withoutMode(metadata: Record<string, string>): Record<string, string> {
  const { [SESSION_METADATA.permissionMode]: _, ...rest } = metadata;
  return rest;
}
