// The peer of `idle`. Run by `node opencode.ts FOLDER` where only loopback is there (see `idle.ts`); prints one JSON line.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { processStats, type ProcessStats } from "../../apps/cli/src/testing/process-stats.ts";

const VERSION = "1.18.18";
const PACKAGE = `opencode-${process.platform}-${process.arch}`;
const place = join(import.meta.dirname, "..", "node_modules", ".opencode");
const program = join(place, "node_modules", PACKAGE, "bin", "opencode");
/** It continues working for a while after its start. */
const SETTLE_MS = 5_000;
const START_MS = 60_000;

export const OPENCODE = `${PACKAGE}@${VERSION}`;

/** Beside the bench's other peers, once. False if it cannot be had. */
export function installOpencode(): boolean {
  if (existsSync(program)) return true;
  console.error(`Installing ${OPENCODE} (once; about 180 MB) …`);
  mkdirSync(place, { recursive: true });
  const args = ["install", "--prefix", place, "--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
  const npm = process.env["npm_execpath"];
  const options = { cwd: place, stdio: ["ignore", 2, 2] as ["ignore", 2, 2] };
  if (npm) spawnSync(process.execPath, [npm, ...args, OPENCODE], options);
  else spawnSync("npm", [...args, OPENCODE], options);
  return existsSync(program);
}

/** `opencode serve` after its start, and after it was asked for what it can offer. */
async function measure(folder: string): Promise<{ started: ProcessStats; asked: ProcessStats }> {
  const child = spawn(program, ["serve", "--hostname", "127.0.0.1", "--port", "0"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, OPENCODE_DISABLE_AUTOUPDATE: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await addressOf(child.stdout);
    await sleep(SETTLE_MS);
    const started = processStats(child.pid!);
    const response = await fetch(`${url}/provider`);
    await response.text();
    if (!response.ok) throw new Error(`/provider: ${response.status}`);
    await sleep(SETTLE_MS);
    return { started, asked: processStats(child.pid!) };
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  const signal = AbortSignal.timeout(START_MS);
  for await (const line of createInterface({ input: output, signal })) {
    const address = /listening on (http:\S+)/.exec(line)?.[1];
    if (address) return address;
  }
  throw new Error("opencode did not say where it listens.");
}

if (import.meta.main) console.log(JSON.stringify(await measure(process.argv[2]!)));
