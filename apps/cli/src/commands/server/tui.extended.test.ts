import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// The released terminal UI of opencode, unmodified, in tmux. Install it anywhere with `npm install opencode-ai@1.18.18`, and name
// the folder in TANDEM_TEST_OPENCODE.

const ROOT = resolve(import.meta.dirname, "../../../../..");
const MODULES = join(process.env["TANDEM_TEST_OPENCODE"] ?? ROOT, "node_modules");
const PROGRAM = join(MODULES, `opencode-${process.platform}-${process.arch}`, "bin/opencode");
const isPossible = existsSync(PROGRAM) && spawnSync("tmux", ["-V"]).status === 0;
const DEADLINE_MS = 120_000;
const LOOK_MS = 200;

const run = promisify(execFile);
let home: string;
let port: number;
let server: ChildProcess;
const SOCKET = `tandem-tui-${process.pid}`;
const tmux = async (...args: string[]): Promise<string> => (await run("tmux", ["-L", SOCKET, ...args])).stdout;
const variables = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: home,
  TANDEM_HOME: join(home, "tandem"),
  CLAUDE_CONFIG_DIR: join(home, "claude"),
  LANG: "C.UTF-8",
});

async function startServer(): Promise<void> {
  const options = ["up", "--demo", "--opencode", String(port), "--port", "0", "--no-open", "--json"];
  server = spawn(process.execPath, [join(ROOT, "apps/cli/bin/tandem.mjs"), ...options], {
    env: variables(),
    cwd: home,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(server.stdout!, "data");
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  return free;
}

/** Resolves with the screen when it fits. */
async function screen(fits: RegExp): Promise<string> {
  let shown = "";
  for (const until = Date.now() + DEADLINE_MS; Date.now() < until; await setTimeout(LOOK_MS)) {
    shown = await tmux("capture-pane", "-p", "-t", "tui");
    if (fits.test(shown)) return shown;
  }
  throw new Error(`The screen never showed ${fits}:\n${shown}`);
}

const press = (...keys: string[]) => tmux("send-keys", "-t", "tui", ...keys);
const limit = () => readFile(join(home, "tandem-demo/harbour-bikes/src/shipping.ts"), "utf8");

describe.skipIf(!isPossible)("opencode's terminal UI (needs tmux and an installed opencode)", () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "tandem-tui-"));
    port = await freePort();
    await startServer();
    const token = (await readFile(join(home, "tandem/token"), "utf8")).trim();
    const headers = { authorization: `Bearer ${token}` };
    const found = await fetch(`http://127.0.0.1:${port}/session?search=Free%20shipping`, { headers });
    const [session] = (await found.json()) as { id: string }[];
    const attach = `${PROGRAM} attach http://127.0.0.1:${port} --session ${session!.id}`;
    const set = Object.entries({ ...variables(), OPENCODE_SERVER_PASSWORD: token, OPENCODE_DISABLE_AUTOUPDATE: "1" });
    const assigned = set.map(([name, value]) => `${name}=${value}`).join(" ");
    await tmux(
      "new-session",
      "-d",
      "-s",
      "tui",
      "-x",
      "140",
      "-y",
      "45",
      `env -i TERM=xterm-256color ${assigned} ${attach}`,
    );
  }, DEADLINE_MS);
  afterAll(async () => {
    await tmux("kill-server").catch(() => undefined);
    server.kill("SIGKILL");
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });

  test(
    "shows an approval with its diff, runs the call, and undoes and redoes it",
    { timeout: 4 * DEADLINE_MS },
    async () => {
      const asked = await screen(/Permission required/);
      expect(asked).toMatch(/Edit src\/shipping\.ts/);
      expect(asked).toMatch(/\+ const FREE_FROM_CENTS = 6_000/);
      await press("Enter");
      await screen(/Modified Files[\s\S]*src\/shipping\.ts +\+1 -1/);
      expect(await limit()).toContain("6_000");
      await screen(/ctrl\+p commands/);
      await press("/undo");
      await screen(/Undo/);
      await press("Enter");
      await screen(/1 message reverted/);
      expect(await limit()).toContain("5_000");
      await press("C-x");
      await press("r");
      await screen(/Orders of 60 € and more ship for free/);
      await expect.poll(limit, { timeout: DEADLINE_MS }).toContain("6_000");
    },
  );

  test(
    "connects again after the server was killed, and its next prompt is answered",
    { timeout: 4 * DEADLINE_MS },
    async () => {
      server.kill("SIGKILL");
      await once(server, "exit");
      await startServer();
      await press("What is in this folder?");
      await screen(/┃ +What is in this folder\?/);
      await press("Enter");
      expect(await screen(/Scripted answer: no model was called/)).toMatch(/┃ +What is in this folder\?/);
    },
  );
});
