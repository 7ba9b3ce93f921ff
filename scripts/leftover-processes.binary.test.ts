import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findLeftoverProcesses } from "./leftover-processes.ts";

test.skipIf(process.platform !== "linux")("a process that outlives its test is found by the run's folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-leftover-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const child = spawn("sleep", ["600"], { env: { PATH: `${process.env["PATH"]}:${folder}` }, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const spawnedAt = Date.now();
  // The kernel shows the variables of a program a moment after it has begun to run it.
  await expect
    .poll(() => findLeftoverProcesses(folder, 0))
    .toMatchObject([{ pid: child.pid, command: "sleep 600", folder: process.cwd() }]);
  const [found] = await findLeftoverProcesses(folder, 0);
  expect(Math.abs(found!.startedAt - spawnedAt)).toBeLessThan(60_000);
  const waits = findLeftoverProcesses(folder);
  child.kill("SIGKILL");
  expect(await waits).toEqual([]);
});
