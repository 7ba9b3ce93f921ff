import {
  inheritedDescriptors,
  inSandbox,
  knownWall,
  openLimitGroup,
  wallMissing,
  type LimitGroup,
  type OsUser,
  type SandboxPlan,
  type SandboxStart,
} from "@tandem/sandbox";
import { findProgram, inNamespace, processNamespace } from "./process-namespace.ts";

/** Enough for the server to renew its leases in time. With 10, one busy program beside it starves the agents. */
export const NICENESS = 5;

export interface OwnedCommand {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  /** The complete environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** Further descriptors to open as pipes. */
  pipes?: readonly number[];
  /** Runs with lower CPU priority. */
  yields?: boolean;
  /** See `Command` of the namespace. */
  pidFolders?: readonly string[];
  /** Runs it in this sandbox, and never without: the constructor throws if the machine has none. */
  sandbox?: SandboxPlan | undefined;
}

export interface StartLine {
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
  user?: OsUser;
  /** In bubblewrap, which reports on `statusDescriptor`. */
  isWrapped: boolean;
  isFound: boolean;
  statusDescriptor: number;
  /** In bubblewrap, the program starts when `MAY_START` arrives here. */
  startDescriptor: number;
  feeds: SandboxStart["feeds"];
  identities: SandboxStart["identities"];
  /** Limits of the whole sandbox. Its init must be in it before `blockDescriptor` gets data: then it starts other processes. */
  group?: LimitGroup | undefined;
  blockDescriptor?: number;
  /** Descriptors that the program gets as /dev/null. */
  covered: readonly number[];
}

/** How to start a program: in its sandbox, else in a pid namespace, else as it is. */
export function startLine(owned: OwnedCommand): StartLine {
  const line = owned.sandbox ? sandboxed(owned, owned.sandbox) : inOwnNamespace(owned);
  // Before it starts: a priority set later would miss the processes that it has started by then.
  return owned.yields && line.isFound
    ? { ...line, command: "nice", args: ["-n", String(NICENESS), line.command, ...line.args] }
    : line;
}

function inOwnNamespace({ command, args, cwd, env, pipes, pidFolders = [] }: OwnedCommand): StartLine {
  const namespace = processNamespace();
  const descriptors = ownDescriptors(pipes);
  // Without the program, the spawn fails with its usual error instead of one of bubblewrap.
  const isFound = findProgram(command, env["PATH"] ?? "", cwd) !== undefined;
  const isWrapped = namespace.on && isFound;
  const wrapped = isWrapped ? inNamespace(namespace, { command, args, pidFolders, ...descriptors }) : { command, args };
  return { ...wrapped, cwd, env, isWrapped, isFound, ...descriptors, feeds: [], identities: [], covered: [] };
}

function sandboxed(owned: OwnedCommand, plan: SandboxPlan): StartLine {
  const group = openLimitGroup(plan.limits);
  try {
    return inGroup(owned, plan, group);
  } catch (error) {
    group?.close();
    throw error;
  }
}

function inGroup(owned: OwnedCommand, plan: SandboxPlan, group: LimitGroup | undefined): StartLine {
  const { command, args, cwd, env, pipes } = owned;
  const wall = knownWall(process.env, plan.user);
  if (!wall.on) throw wallMissing(wall);
  const own = ownDescriptors(pipes);
  const descriptors = { ...own, ...(group && { blockDescriptor: own.startDescriptor + 1 }) };
  const firstDescriptor = Math.max(...Object.values(descriptors)) + 1;
  const start = inSandbox(wall, plan, { command, args, cwd, env, ...descriptors, firstDescriptor });
  const feeds = start.feeds.map((feed) => feed.descriptor);
  const used = new Set([...(pipes ?? []), ...Object.values(descriptors), ...feeds]);
  return {
    ...start,
    // The plan's user may lack access to the folder's path outside. Bubblewrap changes to it inside.
    cwd: "/",
    isWrapped: true,
    isFound: true,
    ...descriptors,
    group,
    covered: inheritedDescriptors().filter((each) => !used.has(each)),
    ...(plan.user && { user: plan.user }),
  };
}

function ownDescriptors(pipes: readonly number[] = []): Pick<StartLine, "statusDescriptor" | "startDescriptor"> {
  const first = Math.max(2, ...pipes) + 1;
  return { statusDescriptor: first, startDescriptor: first + 1 };
}
