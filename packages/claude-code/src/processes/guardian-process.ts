import { existsSync, readdirSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessLedger } from "./process-ledger.ts";
import { killTree } from "./process-tree.ts";

// Entry point of the process that `Guardian` starts. Its owner sends heartbeats and further ledgers.
const [home = "", owner, patience, marker] = process.argv.slice(2);
const LOOK_MS = 100;
const LATE_LOOKS = 3;
/** A killed process takes a moment to exit. */
const GONE_MS = 10_000;

const watched = new Set<string>();
const ledgers = (): ProcessLedger[] => {
  const folders = [...watched, ...(home ? ledgersIn(home) : [])].filter((folder) => existsSync(folder));
  return folders.map((folder) => new ProcessLedger(folder));
};

const ledgersIn = (folder: string): string[] => {
  const tenants = join(folder, "tenants");
  const homes = [folder, ...(existsSync(tenants) ? readdirSync(tenants).map((name) => join(tenants, name)) : [])];
  return homes.map((each) => join(each, "processes"));
};

// Node writes the compile cache at exit, which SIGKILL skips.
flushCompileCache();

let heard = performance.now();
process.on("message", (message: { folder?: string }) => {
  heard = performance.now();
  if (message.folder !== undefined) watched.add(message.folder);
});
let looked = performance.now();
setInterval(() => {
  const now = performance.now();
  // If this process itself was suspended or starved, heartbeats wait in its channel: the next look knows them.
  const wasLate = now - looked > LATE_LOOKS * LOOK_MS;
  looked = now;
  if (wasLate || now - heard < Number(patience)) return;
  for (const ledger of ledgers()) ledger.endChildrenOf(Number(owner));
}, LOOK_MS);

async function endOrphans(): Promise<void> {
  const deadline = performance.now() + GONE_MS;
  while (process.ppid === Number(owner) && performance.now() < deadline) await sleep(LOOK_MS);
  // Also finds children that its owner could not record any more.
  killTree(undefined, marker);
  for (const ledger of ledgers()) await ledger.sweep();
  process.exit();
}

process.once("disconnect", () => void endOrphans());
