import { existsSync, readdirSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessLedger } from "../process-ledger.ts";

// Entry point of the process that `Guardian` starts. Its owner sends heartbeats.
const [home = "", owner, patience] = process.argv.slice(2);
const LOOK_MS = 100;
/** A killed process takes a moment to exit. */
const GONE_MS = 10_000;

const ledgers = (): ProcessLedger[] => {
  const tenants = join(home, "tenants");
  const homes = [home, ...(existsSync(tenants) ? readdirSync(tenants).map((name) => join(tenants, name)) : [])];
  const folders = homes.map((each) => join(each, "processes")).filter((folder) => existsSync(folder));
  return folders.map((folder) => new ProcessLedger(folder));
};

// Node writes the compile cache at exit, which SIGKILL skips.
flushCompileCache();

let heard = performance.now();
process.on("message", () => (heard = performance.now()));
setInterval(() => {
  if (performance.now() - heard < Number(patience)) return;
  for (const ledger of ledgers()) ledger.endChildrenOf(Number(owner));
}, LOOK_MS);

async function endOrphans(): Promise<void> {
  const deadline = performance.now() + GONE_MS;
  while (process.ppid === Number(owner) && performance.now() < deadline) await sleep(LOOK_MS);
  for (const ledger of ledgers()) await ledger.sweep();
  process.exit();
}

process.once("disconnect", () => void endOrphans());
