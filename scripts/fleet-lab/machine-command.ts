import type { LabNetwork } from "./lab-network.ts";
import { type MachineName, uidOf } from "./lab-machines.ts";

export interface MachineSetup {
  /** The working folder, as the machine sees it. */
  cwd: string;
  /** Folders that this machine sees in another place: its own disk, and volumes. */
  mounts?: readonly (readonly [from: string, to: string])[];
  /** Runs as root if the machine's user cannot read the program. */
  asRoot?: boolean;
}

/** Every step replaces itself by the next one, so that the process keeps its id. */
const SCRIPT = `
hostname "$1"; user=$2; cd=$3; shift 3
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 1; shift 2; done
shift; cd "$cd" || exit 1
[ "$user" = 0 ] && exec "$@"
exec setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"`;

/** The command that runs a program in a machine: its network, host name, mounts and user. */
export function machineCommand(
  network: LabNetwork,
  machine: MachineName,
  { cwd, mounts = [], asRoot = false }: MachineSetup,
  command: readonly string[],
): [string, ...string[]] {
  const user = String(asRoot ? 0 : uidOf(machine));
  const enter = ["/usr/sbin/ip", "netns", "exec", network.nameOf(machine), "/usr/bin/unshare", "--uts"] as const;
  return [...enter, "/bin/sh", "-c", SCRIPT, "sh", machine, user, cwd, ...mounts.flat(), "--", ...command];
}
