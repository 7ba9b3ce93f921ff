import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OwnedProcess } from "./owned-process.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { processNamespace } from "./process-namespace.ts";
import type { OwnedCommand } from "./start-line.ts";
import { daemonsIn, ownedProcessSuite } from "./testing/owned-process-suite.ts";

const SETTING = "TANDEM_PROCESS_NAMESPACE";

let folder: string;
let ledger: ProcessLedger;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tandem-owned-"));
  ledger = new ProcessLedger(join(folder, "processes"));
});
afterEach(() => {
  delete process.env[SETTING];
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const own = (command: string, more: Partial<OwnedCommand> = {}): OwnedProcess =>
  new OwnedProcess(ledger, {
    command: "/bin/sh",
    args: ["-c", command],
    cwd: folder,
    env: { PATH: process.env["PATH"] },
    ...more,
  });

describe.skipIf(process.platform !== "linux").each(["on", "off"])("with the pid namespace %s", (setting) => {
  beforeEach((context) => {
    process.env[SETTING] = setting;
    const namespace = processNamespace();
    context.skip(setting === "on" && !namespace.on, namespace.on ? "" : namespace.reason);
  });

  test("a missing program fails as it does elsewhere", async () => {
    const owned = own("", { command: "no-such-program" });
    const [error] = (await once(owned.process, "error")) as [Error];
    expect(error).toMatchObject({ code: "ENOENT" });
    await owned.gone;
  });

  ownedProcessSuite(() => ({
    folder,
    ledger: join(folder, "processes"),
    own,
    suspend: ({ pid }) => process.kill(pid!, "SIGSTOP"),
    host: { args: [], env: { PATH: process.env["PATH"], [SETTING]: setting } },
  }));

  test("a yielding program and its children have lower priority", async () => {
    const owned = own("tail -f /dev/null & touch begun; wait", { yields: true });
    await expect.poll(() => daemonsIn(folder)).toHaveLength(1);
    expect(getPriority(owned.pid)).toBe(getPriority() + 5);
    owned.kill();
    await owned.gone;
  });
});

describe("the namespace", () => {
  test("that does not work here is named with the reason", () => {
    const before = process.env["PATH"];
    process.env["PATH"] = folder;
    expect(processNamespace()).toEqual({ on: false, reason: expect.stringContaining("bubblewrap is not installed") });
    process.env["PATH"] = before;
  });
});
