import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { probe } from "./probe-wall.ts";
import type { OsUser, SandboxPlan } from "./sandbox-plan.ts";
import { sandboxMounts } from "./sandbox-mounts.ts";
import { ESCAPE_ATTEMPTS, type Attempt, type Targets } from "./testing/escape-attempts.ts";
import { runInSandbox } from "./testing/run-in-sandbox.ts";

const ATTEMPT_SECONDS = 20 * inject("slowness");
const OTHER: OsUser = { uid: 54_321, gid: 54_321 };
const isRoot = process.getuid?.() === 0;
const programs = ["perl", "script", "unshare", "nsenter", "git", "timeout"];
const missing = programs.filter((name) => spawnSync("which", [name]).status !== 0);

const users: [string, OsUser | undefined][] = isRoot
  ? [
      ["root", undefined],
      ["another user of the machine", OTHER],
    ]
  : [["an ordinary user", undefined]];

describe.each(users)("an agent that runs as %s", (_, user) => {
  const wall = probe(process.env["PATH"] ?? "", user, process);
  const isPlain = user !== undefined || !isRoot;
  let base: string;
  let folder: string;
  let targets: Targets;
  let plan: SandboxPlan;
  let host: ChildProcess;
  const servers: Server[] = [];

  beforeAll(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "tandem-escape-")));
    chmodSync(base, 0o755);
    folder = join(base, "home", "project");
    const secret = `secret-${crypto.randomUUID()}`;
    const home = join(base, "home");
    const tandemHome = join(home, ".tandem");
    const otherSession = join(tandemHome, "folders", "other");
    for (const path of [folder, otherSession, join(base, "private"), join(home, ".ssh"), join(home, ".cargo/bin")]) {
      mkdirSync(path, { recursive: true });
    }
    const npm = join(home, ".nvm/versions/node/v1/etc");
    mkdirSync(npm, { recursive: true });
    const token = join(tandemHome, "token");
    const files = [token, join(home, ".ssh/id_ed25519"), join(otherSession, "notes"), join(npm, "npmrc")];
    for (const file of [...files, join(home, ".cargo/credentials.toml")]) writeFileSync(file, `${secret}\n`);
    execFileSync("git", ["init", "-q", folder]);
    const socket = join(base, "host.sock");
    const abstract = `tandem-${secret}`;
    const port = await listen(0);
    await listen(socket);
    await listen(`\0${abstract}`);
    chmodSync(socket, 0o777);
    if (user)
      for (const path of ["", ...readdirSync(base, { recursive: true, encoding: "utf8" })])
        chownSync(join(base, path), user.uid, user.gid);
    host = spawn("/bin/sh", ["-c", "exec tail -f /dev/null"], {
      env: { PATH: process.env["PATH"], SECRET: secret },
      stdio: "ignore",
      ...user,
    });
    targets = { token, home, otherSession, pid: host.pid!, socket, abstract, port, secret };
    plan = {
      home: { from: join(base, "private"), at: home },
      mounts: sandboxMounts({ folder, home, tandemHome, path: "/usr/bin:/bin", ...(user && { user }) }),
      sockets: [],
      relays: [],
      limits: { tmpMb: 16 },
      ...(user && { user }),
    };
  });
  afterAll(async () => {
    const exited = once(host, "exit");
    host.kill("SIGKILL");
    await exited;
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(base, { recursive: true, force: true });
  });

  async function listen(where: string | number): Promise<number> {
    const server = createServer((socket) => socket.on("error", () => {}).end("HELLO"));
    servers.push(server);
    await new Promise<void>((resolve) =>
      typeof where === "number" ? server.listen(where, "127.0.0.1", resolve) : server.listen(where, resolve),
    );
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** One script that makes all attempts and names those that got out. */
  const allOf = (attempts: readonly Attempt[]): string =>
    attempts
      .map(({ name, script }) => {
        const quoted = script(targets).replaceAll("'", `'"'"'`);
        return `timeout -s KILL ${ATTEMPT_SECONDS} sh -c '${quoted}' >/dev/null 2>&1 </dev/null && echo "out: ${name}"\n`;
      })
      .join("") + "echo end";
  const gotOut = (output: string): string[] => [...output.matchAll(/^out: (.+)$/gm)].map((match) => match[1]!);

  test.skipIf(!wall.on || missing.length > 0)(
    `escapes in no way${missing.length > 0 ? ` (needs ${missing.join(", ")})` : ""}`,
    async () => {
      if (!wall.on) return;
      // Inside first: outside, the attempts change the repository.
      const inside = await runInSandbox(wall, plan, folder, allOf(ESCAPE_ATTEMPTS));
      expect(inside).toMatchObject({ code: 0 });
      expect(inside.output.trimEnd().split("\n").at(-1)).toBe("end");
      expect(gotOut(inside.output)).toEqual([]);

      const real = ESCAPE_ATTEMPTS.filter(({ onlyInside, needsRoot }) => !onlyInside && !(needsRoot && isPlain));
      const bare = await new Promise<string>((resolve) => {
        const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: targets.home };
        const child = spawn("/bin/sh", ["-c", allOf(real)], {
          cwd: folder,
          env,
          stdio: ["ignore", "pipe", "ignore"],
          ...user,
        });
        let said = "";
        child.stdout
          .setEncoding("utf8")
          .on("data", (chunk: string) => (said += chunk))
          .on("end", () => resolve(said));
      });
      const failed = real.filter(({ name, dependsOnKernel }) => !dependsOnKernel && !gotOut(bare).includes(name));
      expect(failed.map(({ name }) => name)).toEqual([]);
    },
  );
});
