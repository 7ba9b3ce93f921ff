import { describe, expect, test } from "vitest";
import { seccompFilter, type Processor } from "./seccomp-filter.ts";

const ALLOWED = "allowed";
const KILLED = "killed";
const ARCH: Record<Processor, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Runs the BPF program as the kernel does. */
function judge(processor: Processor, number: number, args: number[] = [], arch = ARCH[processor]): string {
  const bytes = seccompFilter(processor);
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const value = bytes.readUInt32LE(at * 8 + 4);
    const [ifTrue, ifFalse] = [bytes.readUInt8(at * 8 + 2), bytes.readUInt8(at * 8 + 3)];
    switch (bytes.readUInt16LE(at * 8)) {
      case 0x20:
        accumulator = value === 0 ? number : value === 4 ? arch : (args[(value - 16) / 8] ?? 0);
        break;
      case 0x15:
        at += accumulator === value ? ifTrue : ifFalse;
        break;
      case 0x45:
        at += (accumulator & value) === 0 ? ifFalse : ifTrue;
        break;
      case 0x06:
        if (value === 0x7fff0000) return ALLOWED;
        return value === 0x80000000 ? KILLED : `error ${value & 0xffff}`;
      default:
        throw new Error("unknown instruction");
    }
  }
}

describe.each<
  [
    Processor,
    Record<"read" | "clone" | "ioctl" | "socket" | "unshare" | "mount" | "keyctl" | "openat" | "fchmodat", number>,
  ]
>([
  [
    "x64",
    { read: 0, clone: 56, ioctl: 16, socket: 41, unshare: 272, mount: 165, keyctl: 250, openat: 257, fchmodat: 268 },
  ],
  [
    "arm64",
    { read: 63, clone: 220, ioctl: 29, socket: 198, unshare: 97, mount: 40, keyctl: 219, openat: 56, fchmodat: 53 },
  ],
])("on %s", (processor, call) => {
  test.each([
    ["usual calls", call.read, [], ALLOWED],
    ["fork", call.clone, [17], ALLOWED],
    ["a thread", call.clone, [0x3d0f00], ALLOWED],
    ["clone with a user namespace", call.clone, [0x10000011], "error 1"],
    ["clone with a mount namespace", call.clone, [0x20011], "error 1"],
    ["clone3, whose flags are unreadable", 435, [], "error 38"],
    ["unshare", call.unshare, [], "error 1"],
    ["mount", call.mount, [], "error 1"],
    ["keyctl", call.keyctl, [], "error 1"],
    ["a descriptor of another process", 438, [], "error 1"],
    ["io_uring", 425, [], "error 38"],
    ["an executable file", call.fchmodat, [0, 0, 0o755], ALLOWED],
    ["a shared folder", call.fchmodat, [0, 0, 0o2775], ALLOWED],
    ["a set-user-ID file", call.fchmodat, [0, 0, 0o4755], "error 1"],
    ["an open file, with any value for its mode", call.openat, [0, 0, 0, 0o4755], ALLOWED],
    ["a new file", call.openat, [0, 0, 0o101, 0o644], ALLOWED],
    ["a new set-user-ID file", call.openat, [0, 0, 0o101, 0o4755], "error 1"],
    ["an unnamed set-user-ID file", call.openat, [0, 0, 0o20200002, 0o4755], "error 1"],
    ["the size of a terminal", call.ioctl, [0, 0x5413], ALLOWED],
    ["typing into a terminal", call.ioctl, [0, 0x5412], "error 1"],
    ["typing into a console", call.ioctl, [0, 0x541c], "error 1"],
    ["a unix socket", call.socket, [1, 1, 0], ALLOWED],
    ["an IPv4 socket", call.socket, [2, 1, 6], ALLOWED],
    ["an IPv6 socket", call.socket, [10, 1, 6], ALLOWED],
    ["the list of interfaces", call.socket, [16, 3, 0], ALLOWED],
    ["the kernel's audit socket", call.socket, [16, 3, 9], "error 97"],
    ["a socket to the host of a virtual machine", call.socket, [40, 1, 0], "error 97"],
    ["a packet socket", call.socket, [17, 3, 0], "error 97"],
  ])("%s", (_, number, args, expected) => {
    expect(judge(processor, number, args)).toBe(expected);
  });

  test("numbers of another processor mode", () => {
    expect(judge(processor, call.read, [], 0x40000003)).toBe(KILLED);
  });
});

test("the x32 numbers of x64", () => expect(judge("x64", 0x40000000 | 165)).toBe(KILLED));
