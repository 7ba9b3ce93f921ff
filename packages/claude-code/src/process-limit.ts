import { availableParallelism, totalmem } from "node:os";

/** Memory of a Claude Code process with its shells and tools. A process alone takes about 190 MB. */
const PROCESS_BYTES = 256 * 1024 ** 2;
/** Memory for the server, its database and everything else on the machine. */
const RESERVED_BYTES = 512 * 1024 ** 2;
const RESERVED_SHARE = 0.25;
/** Most processes wait for the model or a person most of the time. */
const PER_CORE = 8;
const AT_LEAST = 2;

interface Machine {
  /** Bytes that this process may use, including the limit of its cgroup. */
  memory: number;
  cores: number;
}

/** The default for how many Claude Code processes of sessions run at once: what memory and cores allow. */
export function defaultProcessLimit({ memory, cores }: Machine = thisMachine()): number {
  const byMemory = Math.floor((memory * (1 - RESERVED_SHARE) - RESERVED_BYTES) / PROCESS_BYTES);
  return Math.max(AT_LEAST, Math.min(byMemory, cores * PER_CORE));
}

function thisMachine(): Machine {
  // Without a cgroup limit, this is 0 or more than the machine has.
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { memory, cores: availableParallelism() };
}
