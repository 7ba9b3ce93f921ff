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
  const found = await findLeftoverProcesses(folder, 0);
  expect(found).toMatchObject([{ pid: child.pid, command: "sleep 600", folder: process.cwd() }]);
  expect(Math.abs(found[0]!.startedAt - Date.now())).toBeLessThan(60_000);
  const waits = findLeftoverProcesses(folder);
  child.kill("SIGKILL");
  expect(await waits).toEqual([]);
});
