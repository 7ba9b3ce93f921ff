import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { always, stallBeforeFirstByte, stallMidStream, text, type Reply } from "@tandem/rehearsal";
import { describe, expect, inject, test } from "vitest";
import { ProcessLedger } from "./process-ledger.ts";
import { call, eventually, runningProcesses, setStage } from "../testing/claude-stage.ts";
import { canSignal } from "../testing/can-signal.ts";

const host = (args: unknown, env: Record<string, string>) =>
  spawn(process.execPath, [new URL("../testing/call-host.ts", import.meta.url).pathname, JSON.stringify(args)], {
    env,
    stdio: "ignore",
  });

describe("after kill -9 of the host", () => {
  const moments: [string, Reply[]][] = [
    ["before the first byte", [always(stallBeforeFirstByte())] as unknown as Reply[]],
    ["in mid-answer", [always(stallMidStream("Once upon"))] as unknown as Reply[]],
    ["as answers arrive", [always(text("done"))] as unknown as Reply[]],
  ];
  test.each(moments)("%s, Claude Code ends at once, and the next start cleans up", async (_, script) => {
    await using stage = await setStage(script);
    const pool = { mode: "reuse", size: 2, maxCalls: 50, maxAge: 600_000, maxMemoryMb: 300, idle: 600_000 };
    const deadlines = { spawn: 120_000, init: 120_000, firstByte: 600_000, idle: 600_000, exit: 2_000 };
    const settings = {
      credential: stage.login,
      stateFolder: stage.stateFolder,
      hostVariables: stage.hostVariables,
      pool,
      deadlines,
    };
    const child = host({ settings, prompts: ["a", "b"] }, stage.hostVariables);
    // With its answers, it ends by itself.
    const exited = once(child, "exit");
    await eventually(
      () => stage.rehearsal.modelRequests.length,
      (count) => count === 2,
    );
    const left = await runningProcesses(stage);
    expect(left).toHaveLength(2);
    child.kill("SIGKILL");
    await exited;
    await eventually(
      () => left.filter(canSignal),
      (pids) => pids.length === 0,
      5_000 * inject("slowness"),
    );

    stage.rehearsal.use([always(text("next"))]);
    expect(await stage.claude({ pool: { mode: "off" } }).text(call())).toBe("next");
    await eventually(
      () => runningProcesses(stage),
      (pids) => pids.length === 0,
    );
  });
});

describe("the ledger", () => {
  const inFolder = async (body: (folder: string) => Promise<void>): Promise<void> => {
    const folder = await mkdtemp(join(tmpdir(), "tandem-ledger-"));
    try {
      await body(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  /** A process in its own group that only SIGKILL ends. */
  const stubborn = () => spawn("sh", ["-c", "trap '' TERM HUP; sleep 600 & wait"], { detached: true, stdio: "ignore" });
  const orphan = async (folder: string, pid: number, change: object = {}): Promise<void> => {
    const file = join(folder, `${pid}.json`);
    const entry = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...entry, hostPid: 2 ** 30, hostStartedAt: "never", ...change }));
  };

  test("kills the whole process group of a dead host's child", () =>
    inFolder(async (folder) => {
      const ledger = new ProcessLedger(folder);
      const child = stubborn();
      ledger.add(child.pid!);
      await orphan(folder, child.pid!);
      const exited = once(child, "exit");
      expect(await ledger.sweep()).toEqual({ killed: [child.pid], left: [] });
      await exited;
      // Including its children.
      await eventually(
        () => canSignal(-child.pid!),
        (running) => !running,
      );
      expect(await readdir(folder)).toEqual([]);
    }));

  test("kills descendants in other process groups, as Claude Code starts them for commands", () =>
    inFolder(async (folder) => {
      const ledger = new ProcessLedger(folder);
      const start = "require('child_process').spawn('sleep', ['600'], { detached: true })";
      const child = spawn(process.execPath, ["-e", `console.log(${start}.pid); setInterval(() => {}, 1_000)`], {
        detached: true,
        stdio: ["ignore", "pipe", "ignore"],
      });
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const command = Number(line.toString());
      expect(canSignal(-command), "it leads a group").toBe(true);
      ledger.add(child.pid!);
      await orphan(folder, child.pid!);
      await ledger.sweep();
      await eventually(
        () => canSignal(command),
        (running) => !running,
      );
    }));

  test("does not touch the children of living hosts", () =>
    inFolder(async (folder) => {
      const ledger = new ProcessLedger(folder);
      const child = stubborn();
      ledger.add(child.pid!);
      expect(await ledger.sweep()).toEqual({ killed: [], left: [] });
      expect(canSignal(child.pid)).toBe(true);
      process.kill(-child.pid!, "SIGKILL");
    }));

  test("does not kill an unrelated process with a reused pid", () =>
    inFolder(async (folder) => {
      const ledger = new ProcessLedger(folder);
      const stranger = stubborn();
      ledger.add(stranger.pid!);
      await orphan(folder, stranger.pid!, { startedAt: "long ago" });
      expect(await ledger.sweep()).toEqual({ killed: [], left: [] });
      expect(canSignal(stranger.pid)).toBe(true);
      process.kill(-stranger.pid!, "SIGKILL");
    }));

  test("ignores entries truncated by a crash", () =>
    inFolder(async (folder) => {
      await writeFile(join(folder, "77.json"), '{"pid":7');
      expect(await new ProcessLedger(folder).sweep()).toEqual({ killed: [], left: [] });
      expect(await readdir(folder)).toEqual([]);
    }));
});
