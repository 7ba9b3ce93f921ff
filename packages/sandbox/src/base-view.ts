import { existsSync } from "node:fs";

const RUN_MB = 1;
const SHARED_MEMORY_MB = 256;

/** Kernel tables that only root may read. Root inside a sandbox is still root for the kernel's file permissions. */
const KERNEL_TABLES =
  `kcore kmsg keys key-users kallsyms timer_list sched_debug slabinfo vmallocinfo pagetypeinfo kpagecount
  kpageflags kpagecgroup latency_stats sysrq-trigger`.split(/\s+/);

/** The folders that every sandbox has of its own. The probe makes them too. */
export const baseView = (tmpMb: number): string[] => [
  "--proc",
  "/proc",
  ...KERNEL_TABLES.flatMap((name) => (existsSync(`/proc/${name}`) ? ["--ro-bind", "/dev/null", `/proc/${name}`] : [])),
  // Root could else write /proc/sys, where `kernel.core_pattern` names a program that the host's kernel runs.
  "--remount-ro",
  "/proc",
  "--dev",
  "/dev",
  ...tmpfs("/dev/shm", SHARED_MEMORY_MB),
  "--remount-ro",
  "/dev",
  ...tmpfs("/tmp", tmpMb),
  ...tmpfs("/run", RUN_MB),
];

function tmpfs(at: string, megabytes: number): string[] {
  return ["--size", String(megabytes * 2 ** 20), "--perms", "1777", "--tmpfs", at];
}
