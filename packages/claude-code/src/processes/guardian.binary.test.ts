import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Guardian } from "./guardian.ts";

const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a killed guardian is restarted; a closed one is not", async () => {
  const home = mkdtempSync(join(tmpdir(), "tandem-guardian-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const guardian = new Guardian(home, 60_000);
  const first = guardian.pid!;
  expect(isAlive(first)).toBe(true);
  process.kill(first, "SIGKILL");
  await expect.poll(() => guardian.pid !== first && isAlive(guardian.pid)).toBe(true);
  guardian[Symbol.dispose]();
  await expect.poll(() => isAlive(guardian.pid)).toBe(false);
});
