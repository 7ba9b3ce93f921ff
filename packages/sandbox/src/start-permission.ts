/**
 * The first line of a shell script that starts a program in a pid namespace. It reports on this descriptor, waits there for
 * `MAY_START`, and exits if the descriptor is closed before, because the server has died. Bubblewrap ends with its parent only once
 * it has asked the kernel for that, at the end of its setup: a server that dies earlier would leave the namespace running. The
 * descriptor has one digit, as the shell needs it.
 */
export const awaitStart = (descriptor: number): string =>
  `echo ready >&${descriptor} && read -r go <&${descriptor} || exit 125; exec ${descriptor}<&-`;

/** Permits the start. */
export const MAY_START = "go\n";
