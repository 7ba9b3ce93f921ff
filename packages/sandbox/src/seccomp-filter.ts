/** The processors that have a filter, by `process.arch`. */
export type Processor = "x64" | "arm64";

/** `AUDIT_ARCH_*`. A program for another processor mode has other system call numbers, so the filter kills it. */
const AUDIT: Record<Processor, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const fail = (error: number): number => 0x00050000 | error;

/** Calls that fail with EPERM, with their numbers. They lead out of the namespaces, or to large parts of the kernel. */
const DENIED: readonly [name: string, x64: number | undefined, arm64: number | undefined][] = [
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["open_tree_attr", 467, 467],
  ["open_by_handle_at", 304, 265],
  ["unshare", 272, 97],
  ["setns", 308, 268],
  // A command of the agent could take over Claude Code, and write to its host in its name.
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["pidfd_getfd", 438, 438],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  ["bpf", 321, 280],
  ["userfaultfd", 323, 282],
  ["perf_event_open", 298, 241],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["quotactl", 179, 60],
  ["quotactl_fd", 443, 443],
  ["acct", 163, 89],
  ["reboot", 169, 142],
  ["syslog", 103, 116],
  ["iopl", 172, undefined],
  ["ioperm", 173, undefined],
];

/** Calls that fail with ENOSYS, on which programs fall back to older calls. The filter cannot read the flags of the last two. */
const ABSENT = [425, 426, 427, 435, 437]; // io_uring_setup, io_uring_enter, io_uring_register, clone3, openat2

/**
 * Calls that set the mode of a file, with the position of the mode. A set-user-ID program in the session's folder would give
 * other users of the host the server's rights, so that bit is refused.
 */
const MODES: Record<Processor, readonly [number: number, mode: number][]> = {
  // chmod, fchmod, fchmodat, fchmodat2, creat, mknod, mknodat
  x64: [
    [90, 1],
    [91, 1],
    [268, 2],
    [452, 2],
    [85, 1],
    [133, 1],
    [259, 2],
  ],
  // fchmod, fchmodat, fchmodat2, mknodat
  arm64: [
    [52, 1],
    [53, 2],
    [452, 2],
    [33, 2],
  ],
};
/** `open` and `openat`, with the position of the flags. The mode is the next one, and counts only for new files. */
const OPENS: Record<Processor, readonly [number: number, flags: number][]> = {
  x64: [
    [2, 1],
    [257, 2],
  ],
  arm64: [[56, 2]],
};
const SET_USER_ID = 0o4000;
/** `O_CREAT` and the bit of `O_TMPFILE`. */
const NEW_FILE = 0o20000100;

const CLONE: Record<Processor, number> = { x64: 56, arm64: 220 };
const IOCTL: Record<Processor, number> = { x64: 16, arm64: 29 };
const SOCKET: Record<Processor, number> = { x64: 41, arm64: 198 };
/** `CLONE_NEW*`: mount, cgroup, UTS, IPC, user, pid and network namespaces. */
const NEW_NAMESPACES = 0x7e020000;
/** Both type into a terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
const NETLINK_ROUTE = 0;
/** The second set of numbers of x64, for 32-bit pointers. */
const X32_BIT = 0x40000000;

type Instruction = readonly [code: number, value: number, ifTrue?: number, ifFalse?: number];
const load = (offset: number): Instruction => [0x20, offset];
const give = (result: number): Instruction => [0x06, result];
/** Skips instructions, counted from the next one. */
const skipUnlessEqual = (value: number, count: number): Instruction => [0x15, value, 0, count];
const skipIfEqual = (value: number, count: number): Instruction => [0x15, value, count, 0];
const skipUnlessBits = (bits: number, count: number): Instruction => [0x45, bits, 0, count];

/** Offsets in `struct seccomp_data`. The low half of an argument: all checked ones have 32 bits. */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

export const isProcessor = (arch: string): arch is Processor => arch === "x64" || arch === "arm64";

/** The system call filter as a BPF program, in the format of `bwrap --seccomp`. */
export function seccompFilter(processor: Processor): Buffer {
  const denied = DENIED.map(([, x64, arm64]) => (processor === "x64" ? x64 : arm64)).filter(
    (each) => each !== undefined,
  );
  const program: Instruction[] = [
    load(ARCH),
    skipIfEqual(AUDIT[processor], 1),
    give(KILL),
    load(NUMBER),
    ...(processor === "x64" ? [skipUnlessBits(X32_BIT, 1), give(KILL)] : []),
    ...denied.flatMap((number) => [skipUnlessEqual(number, 1), give(fail(EPERM))]),
    ...ABSENT.flatMap((number) => [skipUnlessEqual(number, 1), give(fail(ENOSYS))]),

    ...MODES[processor].flatMap(([number, mode]) => [
      skipUnlessEqual(number, 4),
      load(argument(mode)),
      skipUnlessBits(SET_USER_ID, 1),
      give(fail(EPERM)),
      give(ALLOW),
    ]),
    ...OPENS[processor].flatMap(([number, flags]) => [
      skipUnlessEqual(number, 6),
      load(argument(flags)),
      skipUnlessBits(NEW_FILE, 3),
      load(argument(flags + 1)),
      skipUnlessBits(SET_USER_ID, 1),
      give(fail(EPERM)),
      give(ALLOW),
    ]),

    skipUnlessEqual(CLONE[processor], 4),
    load(argument(0)),
    skipUnlessBits(NEW_NAMESPACES, 1),
    give(fail(EPERM)),
    give(ALLOW),

    skipUnlessEqual(IOCTL[processor], 5),
    load(argument(1)),
    skipIfEqual(TIOCSTI, 1),
    skipUnlessEqual(TIOCLINUX, 1),
    give(fail(EPERM)),
    give(ALLOW),

    skipUnlessEqual(SOCKET[processor], 9),
    load(argument(0)),
    skipIfEqual(AF_UNIX, 6),
    skipIfEqual(AF_INET, 5),
    skipIfEqual(AF_INET6, 4),
    skipUnlessEqual(AF_NETLINK, 2),
    load(argument(2)),
    skipIfEqual(NETLINK_ROUTE, 1),
    give(fail(EAFNOSUPPORT)),
    give(ALLOW),

    give(ALLOW),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, value, ifTrue = 0, ifFalse = 0], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
