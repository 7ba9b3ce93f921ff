import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { knownWall, limitsInForce, sandboxMounts, type SandboxPlan } from "@tandem/sandbox";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { OwnedProcess } from "./owned-process.ts";
import { ProcessLedger } from "./process-ledger.ts";
import type { OwnedCommand } from "./start-line.ts";
import { daemonsIn, ownedProcessSuite } from "./testing/owned-process-suite.ts";

const { PATH } = process.env;
const wall = knownWall(process.env);

let base: string;
let folder: string;
let ledger: ProcessLedger;
let plan: SandboxPlan;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-sandboxed-")));
  chmodSync(base, 0o755);
  folder = join(base, "home", "project");
  for (const path of [folder, join(base, "private")]) mkdirSync(path, { recursive: true });
  ledger = new ProcessLedger(join(base, "processes"));
  const home = join(base, "home");
  plan = {
    home: { from: join(base, "private"), at: home },
    mounts: sandboxMounts({ folder, home, tandemHome: join(home, ".tandem"), path: "/usr/bin:/bin" }),
    sockets: [],
    relays: [],
    limits: { tmpMb: 16, files: 512 },
  };
});
afterEach(() => {
  process.env["PATH"] = PATH;
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
});

const own = (command: string, more: Partial<OwnedCommand> = {}): OwnedProcess =>
  new OwnedProcess(ledger, {
    command: "/bin/sh",
    args: ["-c", command],
    cwd: folder,
    env: { PATH: "/usr/bin:/bin", HOME: plan.home.at },
    sandbox: plan,
    ...more,
  });

async function outputOf(owned: OwnedProcess): Promise<string> {
  owned.process.stdin.end();
  const [out, error] = await Promise.all([text(owned.process.stdout), text(owned.process.stderr)]);
  await owned.gone;
  return out + error;
}

/** Living processes that see the test's folder as a mount. */
const withMount = (): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
const stateOf = (pid: number): string => /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))![1]!;

describe.skipIf(!wall.on)("an owned process in a sandbox", () => {
  ownedProcessSuite(() => ({
    folder,
    ledger: join(base, "processes"),
    own,
    suspend: (owned) => owned.pause(),
    host: { args: [JSON.stringify(plan)], env: { PATH } },
  }));

  test("a paused program stops and continues, with low priority", async () => {
    const owned = own("tail -f /dev/null & touch begun; wait", { yields: true });
    await expect.poll(() => daemonsIn(folder)).toHaveLength(1);
    const pid = owned.pid!;
    expect(getPriority(pid)).toBe(getPriority() + 5);
    owned.pause();
    await expect.poll(() => stateOf(pid)).toBe("T");
    owned.unpause();
    await expect.poll(() => stateOf(pid)).toBe("S");
    owned.kill();
    await owned.gone;
  });

  test("a server that dies during the start leaves nothing that runs", async () => {
    plan = { ...plan, relays: [{ port: 3128, to: "/run/tandem/net.sock" }] };
    const script = new URL("testing/owning-host.ts", import.meta.url).pathname;
    const args = ["--no-warnings", script, join(base, "processes"), "touch ran", JSON.stringify(plan), "at once"];
    const host = spawn(process.execPath, args, { cwd: folder, env: { PATH }, stdio: "ignore" });
    await once(host, "exit");
    expect(host.signalCode).toBe("SIGKILL");
    const [entry] = readdirSync(join(base, "processes"));
    const timeout = 5_000 * inject("slowness");
    await expect.poll(() => existsSync(`/proc/${Number.parseInt(entry!, 10)}`), { timeout }).toBe(false);
    await expect.poll(withMount, { timeout }).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    // A child of bubblewrap can be left that waits for its parent; the next start of the server ends it.
    expect((await ledger.sweep()).left).toEqual([]);
  });

  test("descriptors of the server and its environment stay outside", async () => {
    // A descriptor that the server got from its parent.
    const secret = openSync("/etc/hostname", "r");
    const script = new URL("testing/owning-host.ts", import.meta.url).pathname;
    const command = "ls -l /proc/self/fd /proc/1/fd >open";
    const args = ["--no-warnings", script, join(base, "processes"), command, JSON.stringify(plan)];
    const stdio = Array.from({ length: 60 }, (_, descriptor) => (descriptor > 40 ? secret : "ignore"));
    const host = spawn(process.execPath, args, { cwd: folder, env: { PATH }, stdio });
    closeSync(secret);
    await once(host, "exit");
    const open = readFileSync(join(folder, "open"), "utf8");
    expect(open).toContain("50 -> /dev/null");
    expect(open).not.toContain("hostname");
    expect(await outputOf(own("tr '\\0' '\\n' </proc/1/environ"))).toMatch(
      /^PATH=\/usr\/bin:\/bin\nTANDEM_PROCESS=[-.\w]+\n$/,
    );
  });

  test("a relay leads from a port inside to a socket of the host, from the first moment on", async () => {
    const socket = join(base, "net.sock");
    const server = createServer((connection) => connection.end("hello\n")).listen(socket);
    await once(server, "listening");
    plan = {
      ...plan,
      sockets: [{ from: socket, at: "/run/tandem/net.sock" }],
      relays: [{ port: 3128, to: "/run/tandem/net.sock" }],
    };
    expect(await outputOf(own("socat -u TCP:127.0.0.1:3128 -"))).toBe("hello\n");
    server.close();
  });

  test("limits bind", async () => {
    const output = await outputOf(own("ulimit -n; ulimit -c; head -c 20000000 /dev/zero >/tmp/x"));
    expect(output).toMatch(/^512\n0\n.*No space left/s);
  });

  test.skipIf(!wall.on || limitsInForce(wall, true)[1]?.scope !== "sandbox")(
    "a fork bomb of root ends at the limit",
    async () => {
      plan = { ...plan, limits: { ...plan.limits, processes: 30 } };
      expect(await outputOf(own("i=0; while [ $i -lt 60 ]; do sleep 9 & i=$((i+1)); done"))).toMatch(/fork/i);
      expect(await outputOf(own("echo next"))).toBe("next\n");
    },
  );

  test.skipIf(process.getuid?.() !== 0)("another user of the machine runs it", async () => {
    const user = { uid: 54_321, gid: 54_321 };
    for (const path of [folder, plan.home.from]) chownSync(path, user.uid, user.gid);
    plan = { ...plan, user, limits: { ...plan.limits, processes: 20 } };
    const output = await outputOf(own("touch mine; i=0; while [ $i -lt 40 ]; do sleep 9 & i=$((i+1)); done"));
    expect(output).toMatch(/fork/i);
    expect(statSync(join(folder, "mine"))).toMatchObject(user);
  });
});

describe.skipIf(!wall.on)("without a working bubblewrap", () => {
  /** Puts a program of this name first in PATH. */
  const bwrap = (script: string): string => {
    const bin = join(base, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    process.env["PATH"] = `${bin}:${PATH}`;
    return join(bin, "bwrap");
  };

  test("the start fails with the cause and a fix, and the program does not run", () => {
    bwrap("echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
    expect(() => own("touch ran")).toThrow(
      expect.objectContaining({ code: "sandbox_unavailable", fix: expect.stringContaining("seccomp") }),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a folder that another session replaces after the checks is not shown", async () => {
    const data = join(folder, "data");
    mkdirSync(data);
    plan = { ...plan, mounts: [...plan.mounts, { from: data, access: "write" }] };
    const swap = `[ -e ${base}/swap ] && mv ${data} ${base}/old && mkdir ${data} && echo the key >${data}/key`;
    bwrap(`${swap}; exec /usr/bin/env -S "PATH=/usr/bin:/bin" bwrap "$@"`);
    expect(await outputOf(own("ls data; echo ran"))).toBe("ran\n");
    writeFileSync(join(base, "swap"), "");
    const owned = own("cat data/key");
    const failed = once(owned.process, "error");
    expect(await outputOf(owned)).not.toContain("the key");
    expect((await failed)[0]).toMatchObject({ code: "sandbox_link" });
  });

  test("that vanished after the probe, the program does not run either", async () => {
    const program = bwrap('exec /usr/bin/env -S "PATH=/usr/bin:/bin" bwrap "$@"');
    expect(await outputOf(own("echo ran"))).toBe("ran\n");
    rmSync(program);
    const owned = own("touch ran");
    const [error] = (await once(owned.process, "error")) as [Error];
    expect(error).toMatchObject({ code: "ENOENT" });
    await owned.gone;
    expect(readdirSync(folder)).toEqual([]);
  });
});
