import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { baseView } from "./base-view.ts";
import { canReach } from "./can-reach.ts";
import { limitFlags } from "./limit-flags.ts";
import { checkDestinations } from "./check-destinations.ts";
import { mountIdentities, type MountIdentity } from "./mount-identity.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { Mount, SandboxPlan, WallOn } from "./sandbox-plan.ts";
import { seccompFilter } from "./seccomp-filter.ts";
import { awaitStart } from "./start-permission.ts";
import { wallFlags } from "./wall-flags.ts";

export interface SandboxedCommand {
  command: string;
  args: readonly string[];
  /** A path inside. */
  cwd?: string | undefined;
  /** The complete environment inside. */
  env: Readonly<Record<string, string | undefined>>;
  /** The descriptor on which bubblewrap reports the pid of the namespace's init. */
  statusDescriptor: number;
  /** Bubblewrap starts no process before this descriptor has data. */
  blockDescriptor?: number;
  /** The program starts when `MAY_START` arrives here. */
  startDescriptor: number;
  /** The first of the free descriptors, for `feeds`. */
  firstDescriptor: number;
}

/** How to start a sandboxed program. */
export interface SandboxStart {
  command: string;
  args: readonly string[];
  /** Of bubblewrap itself. The program can read it in /proc/1/environ, so it has nothing but PATH here. */
  env: { PATH?: string };
  /** Bytes for the descriptors from which bubblewrap reads its arguments, the filter and generated files. */
  feeds: readonly { descriptor: number; bytes: Buffer }[];
  /** For `checkMounted`, before the program gets its permission to start. */
  identities: readonly MountIdentity[];
}

/**
 * Starts the relays, waits until those with an address in `$3` listen (there are `$2` of them), and replaces itself by the
 * program. Relays inherit no pipe of the program.
 */
const START = `
n=$1; k=$2; w=$3; shift 3
while [ "$n" -gt 0 ]; do
  "$1" "$2" "$3" </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  shift 3; n=$((n-1))
done
i=0
while [ "$k" -gt 0 ] && [ "$i" -lt 200 ]; do
  m=0
  while read -r _ l _ s _; do case " $w " in *" $l "*) [ "$s" = 0A ] && m=$((m+1));; esac; done </proc/net/tcp
  [ "$m" -ge "$k" ] && break
  i=$((i+1)); sleep 0.01
done
exec "$@"`;

/**
 * The command line that runs a program in a sandbox. Bubblewrap reads its arguments from a descriptor, so that the program
 * does not find the host's paths and variables in /proc/1/cmdline. Exit codes pass; a signal becomes 128 plus its number.
 * Throws a `SandboxError` if a mount cannot be made safely.
 */
export function inSandbox(wall: WallOn, plan: SandboxPlan, command: SandboxedCommand): SandboxStart {
  const feeds: { descriptor: number; bytes: Buffer }[] = [];
  const feed = (bytes: Buffer): string => {
    const descriptor = command.firstDescriptor + feeds.length;
    feeds.push({ descriptor, bytes });
    return String(descriptor);
  };
  const mounts = plan.mounts.filter((mount) => !("from" in mount && mount.optional) || isUsable(mount.from, plan));
  if (plan.home.at === "/") {
    throw new SandboxError("sandbox_home", "The sandbox cannot replace the home folder, because it is /.", {
      fix: "Set HOME to another folder and restart the server.",
    });
  }
  checkDestinations(plan.home, mounts);
  const identities = mountIdentities(mounts);
  const { PATH: path } = command.env;
  const flags = [
    ...wallFlags(wall),
    "--json-status-fd",
    String(command.statusDescriptor),
    ...(command.blockDescriptor === undefined ? [] : ["--block-fd", String(command.blockDescriptor)]),
    "--seccomp",
    feed(seccompFilter(wall.processor)),
    ...Object.entries(command.env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
    ...baseView(plan.limits.tmpMb),
    "--bind",
    plan.home.from,
    plan.home.at,
    ...mounts.flatMap((mount) => mountFlags(mount, feed)),
    ...plan.sockets.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    "--remount-ro",
    "/run",
    "--remount-ro",
    "/",
    ...(command.cwd === undefined ? [] : ["--chdir", command.cwd]),
  ];
  const args = feed(Buffer.from(flags.map((flag) => `${flag}\0`).join("")));
  const program = [command.command, ...command.args];
  return {
    command: wall.bwrap,
    args: [
      "--args",
      args,
      "--",
      ...limitFlags(wall, plan.limits),
      ...starter(wall, plan, command.startDescriptor),
      ...program,
    ],
    env: path === undefined ? {} : { PATH: path },
    feeds,
    identities,
  };
}

/** Toolchains in the home of the server's user, for example, are closed to other users. */
const isUsable = (path: string, { user }: SandboxPlan): boolean =>
  existsSync(path) && (user === undefined || canReach(path, user));

function mountFlags(mount: Mount, feed: (bytes: Buffer) => string): string[] {
  if ("text" in mount) {
    // Without these, bubblewrap makes the file and its folder private to its user.
    const file = feed(Buffer.from(mount.text));
    return ["--perms", "0755", "--dir", dirname(mount.at), "--perms", "0644", "--ro-bind-data", file, mount.at];
  }
  if ("link" in mount) return ["--symlink", mount.link, mount.at];
  return [mount.access === "write" ? "--bind" : "--ro-bind", mount.from, mount.at ?? mount.from];
}

/** Without socat, the ports refuse connections. */
function starter({ socat }: WallOn, { relays, exposed = [] }: SandboxPlan, descriptor: number): string[] {
  const script = awaitStart(descriptor) + START;
  if (socat === undefined) return ["/bin/sh", "-c", script, "sh", "0", "0", ""];
  const each = [
    ...relays.map(({ port, to }) => [`TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`, `UNIX-CONNECT:${to}`]),
    // Nothing connects to them before the program runs a server.
    ...exposed.map(({ at, port }) => [`UNIX-LISTEN:${at},fork,unlink-early`, `TCP:127.0.0.1:${port}`]),
  ];
  const awaited = relays.filter(({ isLate }) => !isLate).map(({ port }) => listening(port));
  const counts = [each.length, awaited.length].map(String);
  const commands = each.flatMap((ends) => [socat, ...ends]);
  return ["/bin/sh", "-c", script, "sh", ...counts, awaited.join(" "), ...commands];
}

/** 127.0.0.1:PORT in the format of /proc/net/tcp, in the byte order of x64 and arm64. */
const listening = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
