import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { Guardian } from "./guardian.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { canSignal } from "../testing/can-signal.ts";

test("a killed guardian is restarted; a closed one is not", async () => {
  const home = mkdtempSync(join(tmpdir(), "tandem-guardian-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const guardian = new Guardian(home, 60_000);
  const first = guardian.pid!;
  expect(canSignal(first)).toBe(true);
  process.kill(first, "SIGKILL");
  await expect.poll(() => guardian.pid !== first && canSignal(guardian.pid)).toBe(true);
  guardian[Symbol.dispose]();
  await expect.poll(() => canSignal(guardian.pid)).toBe(false);
});

test("a guardian that was suspended itself reads the heartbeats before it judges", async () => {
  const home = mkdtempSync(join(tmpdir(), "tandem-guardian-"));
  const child = spawn("sleep", ["600"], { stdio: "ignore", detached: true });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true });
  });
  const patienceMs = 1_000 * inject("slowness");
  using guardian = new Guardian(home, patienceMs);
  new ProcessLedger(join(home, "processes")).add(child.pid!);
  // It has heard of this process, which stays alive all the time.
  await sleep(patienceMs);
  process.kill(guardian.pid!, "SIGSTOP");
  await sleep(2 * patienceMs);
  process.kill(guardian.pid!, "SIGCONT");
  await sleep(patienceMs / 2);
  expect(canSignal(guardian.pid)).toBe(true);
  expect(canSignal(child.pid)).toBe(true);
});
