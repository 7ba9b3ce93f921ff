import { open, readdir, readFile, readlink } from "node:fs/promises";

const CHUNK = 8 * 1024 * 1024;

/** Where a text is in the processes of a sandbox: environments, command lines, memory and mapped files. */
interface FoundInside {
  places: string[];
  searchedBytes: number;
}

/** Searches all processes below bubblewrap, whose own pid is given. */
export async function findInside(bwrap: number, secret: string): Promise<FoundInside> {
  const found: FoundInside = { places: [], searchedBytes: 0 };
  const needle = Buffer.from(secret);
  for (const { pid, command } of await processesInside(bwrap)) {
    const environ = await readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0));
    if (command.includes(secret)) found.places.push(`${pid} cmdline`);
    if (environ.includes(needle)) found.places.push(`${pid} environ`);
    found.searchedBytes += await searchMemory(pid, needle, found.places);
  }
  return found;
}

/** All processes below bubblewrap, with their command lines. */
export async function processesInside(bwrap: number): Promise<{ pid: number; command: string }[]> {
  const pids = (await descendants(bwrap)).slice(1);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.map((pid, index) => ({ pid, command: commands[index]!.replaceAll("\0", " ").trim() }));
}

async function descendants(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")),
  );
  const own = children.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(own.map(descendants))).flat()];
}

/** All readable memory, private and shared. Returns the number of bytes. */
async function searchMemory(pid: number, needle: Buffer, places: string[]): Promise<number> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8").catch(() => "");
  const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
  await using memory = await open(`/proc/${pid}/mem`, "r").catch(() => undefined);
  if (!memory) return 0;
  let bytes = 0;
  const buffer = Buffer.alloc(CHUNK);
  for (const line of maps.split("\n")) {
    const [, from, to, rights = "", file = ""] = /^([\da-f]+)-([\da-f]+) (\S+) \S+ \S+ \S+ *(.*)$/.exec(line) ?? [];
    // The program's own file has no secret, and is large.
    if (!rights.startsWith("r") || file.startsWith("[v") || (file === program && !rights.includes("w"))) continue;
    const end = Number.parseInt(to!, 16);
    for (let at = Number.parseInt(from!, 16); at < end; at += CHUNK - needle.length) {
      const { bytesRead } = await memory.read(buffer, 0, Math.min(CHUNK, end - at), at).catch(() => ({ bytesRead: 0 }));
      bytes += bytesRead;
      if (bytesRead === 0) break;
      if (buffer.subarray(0, bytesRead).includes(needle)) places.push(`${pid} memory ${line}`);
    }
  }
  return bytes;
}
