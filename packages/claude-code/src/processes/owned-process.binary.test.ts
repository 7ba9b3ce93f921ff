import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { OwnedProcess } from "./owned-process.ts";
import { ProcessLedger } from "./process-ledger.ts";
import { processNamespace } from "./process-namespace.ts";
import type { OwnedCommand } from "./start-line.ts";

const SETTING = "TANDEM_PROCESS_NAMESPACE";
/** A command with a child in a session of its own, which `nohup` protects from the end of its parent. */
const DAEMON = "nohup setsid tail -f /dev/null >/dev/null 2>&1 & tail -f /dev/null & ";

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

/** Living processes in the test's folder, by name. */
const inFolder = (): string[] =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== folder || / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))
        return [];
      return [readFileSync(`/proc/${pid}/comm`, "utf8").trim()];
    } catch {
      return [];
    }
  });
const daemons = (): string[] => inFolder().filter((name) => name === "tail");

describe.skipIf(process.platform !== "linux").each(["on", "off"])("with the pid namespace %s", (setting) => {
  beforeEach((context) => {
    process.env[SETTING] = setting;
    const namespace = processNamespace();
    context.skip(setting === "on" && !namespace.on, namespace.on ? "" : namespace.reason);
  });

  test("streams, exit code and further descriptors reach the program and back", async () => {
    const owned = own("cat; cat <&3; echo error >&2; exit 7", { pipes: [3] });
    owned.process.stdin.end("in ");
    const extra = (owned.process as ChildProcess).stdio[3];
    if (extra instanceof Writable) extra.end("three");
    const [out, error] = await Promise.all([text(owned.process.stdout), text(owned.process.stderr)]);
    await owned.gone;
    expect([out, error, owned.process.exitCode]).toEqual(["in three", "error\n", 7]);
    expect(readdirSync(join(folder, "processes"))).toEqual([]);
  });

  test("a missing program fails as it does elsewhere", async () => {
    const owned = own("", { command: "no-such-program" });
    const [error] = (await once(owned.process, "error")) as [Error];
    expect(error).toMatchObject({ code: "ENOENT" });
    await owned.gone;
  });

  test.each<[string, (owned: OwnedProcess) => void]>([
    ["exits by itself", ({ process: { stdin } }) => stdin.end()],
    ["is killed by the system", ({ pid }) => process.kill(pid!, "SIGKILL")],
    ["is killed", (owned) => owned.kill()],
    ["is killed while it is suspended", (owned) => (process.kill(owned.pid!, "SIGSTOP"), owned.kill())],
  ])("descendants that left the process group end when the program %s", async (_, end) => {
    const owned = own(`${DAEMON} read -r _`);
    await expect.poll(daemons).toHaveLength(2);
    end(owned);
    await owned.gone;
    expect(inFolder()).toEqual([]);
  });

  test("a signal reaches the program, which may end by itself", async () => {
    const owned = own("trap 'echo bye; exit 3' TERM; touch begun; while :; do sleep 0.05; done");
    await expect.poll(() => readdirSync(folder)).toContain("begun");
    owned.signal("SIGTERM");
    expect(await text(owned.process.stdout)).toBe("bye\n");
    await owned.gone;
    expect(owned.process.exitCode).toBe(3);
  });

  test("a yielding program and its children have lower priority", async () => {
    const owned = own("tail -f /dev/null & touch begun; wait", { yields: true });
    await expect.poll(daemons).toHaveLength(1);
    expect(getPriority(owned.pid)).toBe(getPriority() + 5);
    owned.kill();
    await owned.gone;
  });

  test("after kill -9 of this process, all descendants end within seconds", async () => {
    const script = new URL("testing/owning-host.ts", import.meta.url).pathname;
    const args = ["--no-warnings", script, join(folder, "processes"), `${DAEMON} wait`];
    const env = { PATH: process.env["PATH"], [SETTING]: setting };
    const host = spawn(process.execPath, args, { cwd: folder, env, stdio: "ignore" });
    await expect.poll(daemons).toHaveLength(2);
    const exited = once(host, "exit");
    host.kill("SIGKILL");
    await exited;
    await expect.poll(inFolder, { timeout: 5_000 * inject("slowness") }).toEqual([]);
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
