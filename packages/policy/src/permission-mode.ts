import { PERMISSION_MODES, RequestError, SESSION_METADATA, type PermissionMode } from "@tandem/protocol";

/** The account that runs the server, and whether its machine is disposable. */
export interface HostAccount {
  uid: number | undefined;
  /** `IS_SANDBOX=1`, which Claude Code reads too: the server runs in a disposable container. */
  isDisposable: boolean;
}

export const hostAccount = (variables: Readonly<Record<string, string | undefined>>): HostAccount => ({
  uid: process.getuid?.(),
  isDisposable: variables["IS_SANDBOX"] === "1",
});

/** Returns a known mode that this account may use; throws a `RequestError` otherwise. */
export function checkMode(mode: string, account: HostAccount, place: string): PermissionMode {
  if (mode === "auto") {
    throw new RequestError(
      "invalid_request",
      `${place}: auto is not supported: Tandem lets no classifier of Claude Code decide about calls.`,
      { fix: 'Give the agent\'s tools the permission policy "auto", or allow calls with rules (`tandem rules add`).' },
    );
  }
  const known = PERMISSION_MODES.find((each) => each === mode);
  if (!known) throw new RequestError("invalid_request", `${place}: expected ${PERMISSION_MODES.join(", ")}.`);
  if (known !== "bypassPermissions" || account.uid !== 0 || account.isDisposable) return known;
  throw new RequestError(
    "forbidden",
    `${place}: bypassPermissions is refused for root: a command without approval could do anything to this machine.`,
    {
      fix:
        "Run Tandem as another user, or allow calls with rules (`tandem rules add`). " +
        "In a disposable container, start it with IS_SANDBOX=1.",
    },
  );
}

/** Checks the mode in a session's metadata. */
export function checkModeOf(metadata: Record<string, string>, account: HostAccount): void {
  const mode = metadata[SESSION_METADATA.permissionMode];
  if (mode !== undefined) checkMode(mode, account, `metadata.${SESSION_METADATA.permissionMode}`);
}

/** Drops the mode: a session that moves to another agent must not inherit permissions given to the first one. */
export function withoutMode(metadata: Record<string, string>): Record<string, string> {
  const { [SESSION_METADATA.permissionMode]: _, ...rest } = metadata;
  return rest;
}
