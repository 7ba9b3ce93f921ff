import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { awaitStart } from "@tandem/sandbox";

const PROBE_MS = 5_000;
/** `off` starts programs without a pid namespace, for example because they need `sudo`. */
const SETTING = "TANDEM_PROCESS_NAMESPACE";

/** Files, devices and the network stay as they are. */
const FLAGS = ["--dev-bind", "/", "/", "--unshare-pid", "--die-with-parent"];

/** How to run a program: bubblewrap with its flags, and the beginning of the command inside. */
interface Wrapper {
  program: string;
  flags: readonly string[];
  entry: readonly string[];
}
export type ProcessNamespace = ({ on: true } & Wrapper) | { on: false; reason: string };

/**
 * Whether programs start in a pid namespace of bubblewrap. The kernel then kills every process in it when the program or
 * this process ends, whatever they did to leave their parent. Probed once per process, with the flags that are used.
 */
export function processNamespace(): ProcessNamespace {
  const { PATH: path = "", [SETTING]: setting } = process.env;
  const key = `${setting} ${path}`;
  if (known?.key !== key) known = { key, namespace: probe(path, setting) };
  return known.namespace;
}

let known: { key: string; namespace: ProcessNamespace } | undefined;

function probe(path: string, setting: string | undefined): ProcessNamespace {
  if (process.platform !== "linux") return { on: false, reason: `${process.platform} has no pid namespaces` };
  if (setting === "off") return { on: false, reason: `${SETTING} is off` };
  const program = findProgram("bwrap", path);
  if (program === undefined) return { on: false, reason: "bubblewrap is not installed" };
  let why = "";
  for (const wrapper of wrappers(program, path)) {
    // A container or kernel may forbid it, which only a test run shows.
    const args = [...wrapper.flags, "--", ...wrapper.entry, "/bin/sh", "-c", ":"];
    const run = spawnSync(program, args, { encoding: "utf8", env: { PATH: path }, timeout: PROBE_MS });
    if (run.status === 0) return { on: true, ...wrapper };
    why = run.stderr?.trim() || (run.error?.message ?? "");
  }
  return { on: false, reason: `bubblewrap does not work here${why ? ` (${why})` : ""}` };
}

/**
 * `/proc` must show the new namespace, or `ps` and `kill` disagree. For root, bubblewrap covers parts of it, and then the kernel
 * refuses another `/proc` in a user namespace inside, as Claude Code's own sandbox needs it. So root mounts it by itself.
 */
function wrappers(program: string, path: string): Wrapper[] {
  const usual = { program, flags: [...FLAGS, "--proc", "/proc"], entry: [] };
  const mount = process.getuid?.() === 0 ? findProgram("mount", `${path}:/usr/bin:/bin`) : undefined;
  if (mount === undefined) return [usual];
  const entry = ["/bin/sh", "-c", '"$0" -t proc proc /proc && exec "$@"', mount];
  return [{ program, flags: FLAGS, entry }, usual];
}

export interface Command {
  command: string;
  args: readonly string[];
  /** Folders of files named after a pid, which is not unique across namespaces. They are empty inside. */
  pidFolders?: readonly string[];
  /** The descriptor on which bubblewrap reports the pid of the namespace's init. */
  statusDescriptor: number;
  /** The program starts when `MAY_START` arrives here. */
  startDescriptor: number;
}

/** The command line that runs a command in a namespace. Exit codes pass; a signal becomes 128 plus its number. */
export function inNamespace(
  { program, flags, entry }: Wrapper,
  { command, args, pidFolders = [], statusDescriptor, startDescriptor }: Command,
): { command: string; args: readonly string[] } {
  const hidden = pidFolders.flatMap((folder) => ["--tmpfs", folder]);
  const status = ["--json-status-fd", String(statusDescriptor)];
  const starter = ["/bin/sh", "-c", `${awaitStart(startDescriptor)}; exec "$@"`, "sh"];
  return { command: program, args: [...flags, ...hidden, ...status, "--", ...starter, ...entry, command, ...args] };
}

/** Resolves a program as `execvp` does. */
export function findProgram(name: string, path: string, folder = process.cwd()): string | undefined {
  const candidates = name.includes("/")
    ? [resolve(folder, name)]
    : path.split(delimiter).map((entry) => resolve(folder, join(entry, name)));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * The program's own pid, given the pid that was spawned: bubblewrap, its child is the namespace's init, and the program is
 * the second process of the namespace. Without a namespace, both are the same. Undefined while bubblewrap sets it up.
 */
export function programPid(spawned: number): number | undefined {
  try {
    if (readFileSync(`/proc/${spawned}/comm`, "utf8").trim() !== "bwrap") return spawned;
    const [init] = childrenOf(spawned);
    return init === undefined ? undefined : childrenOf(init).find((pid) => pidInNamespace(pid) === 2);
  } catch {
    return process.platform === "linux" ? undefined : spawned;
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

const pidInNamespace = (pid: number): number =>
  Number(/^NSpid:.*\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
