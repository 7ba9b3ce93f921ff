import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, inject, test } from "vitest";
import type { OwnedProcess } from "../owned-process.ts";
import type { OwnedCommand } from "../start-line.ts";

/** A command with a child in a session of its own, which `nohup` protects from the end of its parent. */
const DAEMON = "nohup setsid tail -f /dev/null >/dev/null 2>&1 & tail -f /dev/null & ";

/** Living processes in a folder, by name. */
const processesIn = (folder: string): string[] =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== folder || / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8")))
        return [];
      return [readFileSync(`/proc/${pid}/comm`, "utf8").trim()];
    } catch {
      return [];
    }
  });
export const daemonsIn = (folder: string): string[] => processesIn(folder).filter((name) => name === "tail");

interface OwnedProcessSetup {
  /** The working folder of the programs. */
  folder: string;
  /** The folder of the process ledger. */
  ledger: string;
  own: (command: string, more?: Partial<OwnedCommand>) => OwnedProcess;
  suspend: (owned: OwnedProcess) => void;
  /** Of the process that owns a program and is killed. */
  host: { args: readonly string[]; env: NodeJS.ProcessEnv };
}

/** The tests of an owned process that do not depend on how it is confined. */
export function ownedProcessSuite(setup: () => OwnedProcessSetup): void {
  test("streams, exit code and further descriptors reach the program and back", async () => {
    const { own, ledger } = setup();
    const owned = own("cat; cat <&3; echo error >&2; exit 7", { pipes: [3] });
    owned.process.stdin.end("in ");
    const extra = (owned.process as ChildProcess).stdio[3];
    if (extra instanceof Writable) extra.end("three");
    const [out, error] = await Promise.all([text(owned.process.stdout), text(owned.process.stderr)]);
    await owned.gone;
    expect([out, error, owned.process.exitCode]).toEqual(["in three", "error\n", 7]);
    expect(readdirSync(ledger)).toEqual([]);
  });

  test.each<[string, (owned: OwnedProcess) => void]>([
    ["exits by itself", ({ process: { stdin } }) => stdin.end()],
    ["is killed by the system", ({ pid }) => process.kill(pid!, "SIGKILL")],
    ["is killed", (owned) => owned.kill()],
    ["is killed while it is suspended", (owned) => (setup().suspend(owned), owned.kill())],
  ])("descendants that left the process group end when the program %s", async (_, end) => {
    const { own, folder } = setup();
    const owned = own(`${DAEMON} read -r _`);
    await expect.poll(() => daemonsIn(folder)).toHaveLength(2);
    end(owned);
    await owned.gone;
    expect(processesIn(folder)).toEqual([]);
  });

  test("a signal reaches the program, which may end by itself", async () => {
    const { own, folder } = setup();
    const owned = own("trap 'echo bye; exit 3' TERM; touch begun; while :; do sleep 0.05; done");
    await expect.poll(() => readdirSync(folder)).toContain("begun");
    owned.signal("SIGTERM");
    expect(await text(owned.process.stdout)).toBe("bye\n");
    await owned.gone;
    expect(owned.process.exitCode).toBe(3);
  });

  test("after kill -9 of its owner, all descendants end within seconds", async () => {
    const { folder, ledger, host } = setup();
    const script = new URL("owning-host.ts", import.meta.url).pathname;
    const args = ["--no-warnings", script, ledger, `${DAEMON} wait`, ...host.args];
    const owner = spawn(process.execPath, args, { cwd: folder, env: host.env, stdio: "ignore" });
    await expect.poll(() => daemonsIn(folder)).toHaveLength(2);
    const exited = once(owner, "exit");
    owner.kill("SIGKILL");
    await exited;
    await expect.poll(() => processesIn(folder), { timeout: 5_000 * inject("slowness") }).toEqual([]);
  });
}
