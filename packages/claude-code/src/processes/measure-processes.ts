import { execFile } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { programPid } from "./process-namespace.ts";

const PS_MS = 5_000;
const entry = z.object({ pid: z.int().min(2), hostPid: z.int() });

/** Number and memory of this process's Claude Code processes, from the ledgers in these folders. */
export async function measureProcesses(folders: readonly string[]): Promise<{ count: number; bytes: number }> {
  const pids = (await Promise.all(folders.map(ownPids))).flat();
  const sizes = process.platform === "linux" ? await Promise.all(pids.map(residentOf)) : await residentByPs(pids);
  return { count: pids.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function ownPids(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+\.json$/.test(name))
      .map((name) => readFile(join(folder, name), "utf8").catch(() => "")),
  );
  return found.flatMap((text) => {
    const read = entry.safeParse(text && JSON.parse(text));
    return read.success && read.data.hostPid === process.pid ? [read.data.pid] : [];
  });
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${programPid(pid) ?? pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}

async function residentByPs(pids: readonly number[]): Promise<number[]> {
  if (pids.length === 0) return [];
  try {
    const args = ["-o", "rss=", "-p", pids.join(",")];
    const { stdout } = await promisify(execFile)("ps", args, { timeout: PS_MS });
    return stdout.split("\n").map((line) => Number(line) * 1_024);
  } catch {
    return [];
  }
}
