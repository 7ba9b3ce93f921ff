import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, symlink, mkdir, unlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { findExecutable } from "@tandem/claude-code";
import { knownWall } from "@tandem/sandbox";
import { always, madeUpLogin, text, toolUse } from "@tandem/rehearsal";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  ALLOW_ALL,
  setEngineStage,
  textsOf,
  the,
  type EngineStage,
  type RunningEngine,
} from "../testing/engine-stage.ts";
import { findInside, processesInside } from "../testing/find-inside.ts";

const wall = knownWall(process.env);
const KEY = "sk-ant-made-up-key";
/** Runs until it is killed. */
const COMMAND = "tail -f /dev/null";

let stage: EngineStage;
beforeEach(async () => {
  stage = await setEngineStage();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stage[Symbol.asyncDispose]();
});

const open = (): Promise<RunningEngine> => stage.open({ sandbox: { mode: "require" } });
const bash = (command: string) => toolUse("Bash", { command });

/** The outputs of the turn's tools. */
async function outputs(running: RunningEngine, ...calls: ReturnType<typeof toolUse>[]): Promise<string[]> {
  stage.rehearsal.use([...calls, text("done")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  return events.flatMap(({ event }) =>
    event.type === "agent.tool_result"
      ? [(event.content ?? []).map((block) => ("text" in block ? block.text : "")).join("")]
      : [],
  );
}

test.skipIf(!wall.on)("the usual tools work, and another engine resumes the conversation", async () => {
  const git = (...args: string[]) => promisify(execFile)("git", ["-C", stage.folder, ...args]);
  await git("init", "-q");
  await writeFile(join(stage.folder, "a.txt"), "one\n");
  const file_path = join(stage.folder, "a.txt");
  const commit =
    "git add -A && git -c user.name=a -c user.email=a@example.com commit -qm second && git log --format=%s";
  // As an installation in the home has it.
  const executable = join(stage.root, "home", ".local", "bin", "claude");
  await mkdir(dirname(executable), { recursive: true });
  await symlink(findExecutable(), executable);
  const first = await stage.open({ sandbox: { mode: "require" }, executable });
  stage.rehearsal.use([
    bash("echo $HOME; touch $HOME/kept; id -u"),
    toolUse("Read", { file_path }),
    toolUse("Edit", { file_path, old_string: "one", new_string: "two" }),
    toolUse("Grep", { pattern: "two", output_mode: "content" }),
    toolUse("Glob", { pattern: "*.txt" }),
    bash(commit),
    text("done"),
  ]);
  const session = await first.session({}, ALLOW_ALL);
  const events = await first.turn(session, "Go.");
  expect(the(events, "tandem.init").sandbox).toMatchObject({ on: true, credential: "outside" });
  const results = events.flatMap(({ event }) => (event.type === "agent.tool_result" ? [event] : []));
  expect(results.map(({ is_error }) => is_error)).toEqual(results.map(() => false));
  expect(results).toHaveLength(6);
  expect(JSON.stringify(results[3])).toContain("a.txt");
  expect((await git("log", "--format=%s")).stdout).toBe("second\n");
  expect(stage.rehearsal.modelRequests.map(({ headers }) => headers["x-api-key"])).toEqual(
    stage.rehearsal.modelRequests.map(() => KEY),
  );
  await first.stop();

  const second = await open();
  stage.rehearsal.use([bash("ls $HOME"), always(({ messages }) => text(`${messages.length} messages`))]);
  const resumed = await second.turn(session, "Again.");
  expect(JSON.stringify(the(resumed, "agent.tool_result").content)).toContain("kept");
  expect(Number.parseInt(textsOf(resumed)[0]!, 10)).toBeGreaterThan(12);
  await second.engine.sessions.archive(session.id);
  await second.engine.sessions.delete(session.id);
  expect(await readdir(join(stage.root, "state", "sandboxes"))).toEqual([]);
});

test.skipIf(!wall.on)(
  "no credential is inside: in no environment, file or memory; the API got the real one",
  async () => {
    const running = await open();
    stage.rehearsal.use([bash(COMMAND), text("done")]);
    const session = await running.session({}, ALLOW_ALL);
    await running.say(session, "Go.");
    await running.until(session, ({ event }) => event.type === "agent.tool_use");
    await untilCommandRuns();
    const [pid = 0] = await stage.processes();
    const found = await findInside(pid, KEY);
    expect(found.searchedBytes).toBeGreaterThan(10_000_000);
    expect(found.places).toEqual([]);
    const known = await findInside(pid, "stand-in-of-the-sandbox");
    expect(known.places).not.toEqual([]);
    expect(await readTree(join(stage.root, "state", "sandboxes"))).not.toContain(KEY);
    expect(stage.rehearsal.modelRequests[0]!.headers["x-api-key"]).toBe(KEY);
  },
);

test.skipIf(!wall.on)("a login stays outside, where Claude Code refreshes it", async () => {
  await using login = await setEngineStage([bash("sh show.sh"), text("done")], { proxy: true });
  await writeFile(join(login.folder, "show.sh"), "cat $CLAUDE_CONFIG_DIR/.credentials.json");
  const { variables } = login.rehearsal.proxy;
  const home = join(login.root, "home");
  const configDir = join(home, ".claude");
  const old = await madeUpLogin(configDir, { expiresAt: new Date(Date.now() + 60_000) });
  const hostVariables = { PATH: process.env["PATH"], HOME: home, ...variables };
  const credential = async () => ({ type: "login", configDir }) as const;
  const running = await login.open({ sandbox: { mode: "require" }, credential, hostVariables });
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  const { accessToken, refreshToken } = JSON.parse(await readFile(old.file, "utf8")).claudeAiOauth;
  expect(accessToken).not.toBe(old.accessToken);
  const sent = login.rehearsal.modelRequests.map(({ headers }) => headers["authorization"]);
  expect(new Set(sent)).toEqual(new Set([`Bearer ${accessToken}`]));
  const shown = JSON.stringify(the(events, "agent.tool_result").content);
  expect(shown).toContain(String.raw`\"refreshToken\":null`);
  for (const token of [accessToken, refreshToken, old.accessToken, old.refreshToken]) {
    expect(shown + (await readTree(join(login.root, "state", "sandboxes")))).not.toContain(token);
  }
});

test.skipIf(!wall.on)("a long-lived token stays outside", async () => {
  await using other = await setEngineStage([text("done")], { proxy: true });
  const { variables } = other.rehearsal.proxy;
  const credential = async () => ({ type: "oauth_token", token: "sk-ant-oat01-made-up" }) as const;
  const hostVariables = { PATH: process.env["PATH"], HOME: join(other.root, "home"), ...variables };
  const running = await other.open({ sandbox: { mode: "require" }, credential, hostVariables });
  expect(textsOf(await running.turn(await running.session(), "Go."))).toEqual(["done"]);
  expect(other.rehearsal.modelRequests[0]!.headers["authorization"]).toBe("Bearer sk-ant-oat01-made-up");
  const account = other.rehearsal.requests.filter(({ path }) => path.startsWith("/api/claude_code/"));
  expect(new Set(account.map(({ path }) => path))).toEqual(
    new Set(["/api/claude_code/settings", "/api/claude_code/policy_limits"]),
  );
  expect(new Set(account.map(({ headers }) => headers["authorization"]))).toEqual(
    new Set(["Bearer sk-ant-oat01-made-up"]),
  );
});

test.skipIf(!wall.on)("an agent that may run any command cannot approve itself", async () => {
  const token = join(stage.root, "state", "token");
  let connections = 0;
  await using server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const running = await open();
  await writeFile(token, "the-token-of-the-server");
  // In files: the policy asks before commands that name secrets.
  const scripts = [
    `cat ${token}; ls ${join(stage.root, "state")}; cat /proc/*/environ | tr '\\0' '\\n' | grep the-token`,
    `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port}/`,
    `curl -sS -m 5 -x $HTTPS_PROXY --noproxy '' http://127.0.0.1:${port}/ http://localhost:${port}/`,
  ];
  await Promise.all(scripts.map((script, index) => writeFile(join(stage.folder, `${index}.sh`), `${script}; true`)));
  const [read, asked, proxied] = await outputs(running, bash("sh 0.sh"), bash("sh 1.sh"), bash("sh 2.sh"));
  expect(read).toMatch(/token: No such file/);
  expect(read).not.toContain("the-token-of-the-server");
  expect(asked).toMatch(/refused|Failed to connect|Couldn't connect/);
  expect(proxied).toMatch(/IP address[^]*localhost/);
  expect(connections).toBe(0);
});

test.skipIf(!wall.on)("a refused host is told to the model and logged", async () => {
  const running = await open();
  stage.rehearsal.use([bash("curl -sS -m 10 https://not-allowed.example.com/; true"), text("done")]);
  const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
  expect(the(events, "tandem.sandbox_violation")).toMatchObject({ kind: "host", target: "not-allowed.example.com" });
  expect(JSON.stringify(the(events, "agent.tool_result").content)).toContain("403");
});

test.skipIf(!wall.on || wall.socat === undefined)(
  "a server inside is at its port of the host (needs socat)",
  async () => {
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const running = await stage.open({ sandbox: { mode: "require", ports: [port] } });
    const serve = `const s = require("http").createServer((q, r) => {
    r.setHeader("connection", "close").end("from inside"); s.close(); }).listen(${port}, "127.0.0.1")`;
    stage.rehearsal.use([bash(`node -e '${serve}'`), text("done")]);
    const turn = running.turn(await running.session({}, ALLOW_ALL), "Go.");
    const answer = () => fetch(`http://127.0.0.1:${port}/`).then((found) => found.text());
    await expect.poll(() => answer().catch(() => "")).toBe("from inside");
    expect(the(await turn, "agent.tool_result").is_error).toBe(false);
  },
);

test.skipIf(!wall.on)("nothing is left after the engine was killed", async () => {
  stage.rehearsal.use([bash(`${COMMAND} & ${COMMAND}`), text("done")]);
  const { process: engine } = await stage.spawn(ALLOW_ALL, "Go.", { settings: { sandbox: { mode: "require" } } });
  const pids = (await untilCommandRuns()).map((each) => each.pid);
  engine.kill("SIGKILL");
  await once(engine, "exit");
  const alive = async (): Promise<number[]> => {
    const states = await Promise.all(pids.map((each) => readFile(`/proc/${each}/stat`, "utf8").catch(() => "")));
    return pids.filter((_, index) => states[index] !== "" && !/\) Z /.test(states[index]!));
  };
  await expect.poll(alive).toEqual([]);
});

test.skipIf(!wall.on)("if bubblewrap vanishes after the start, nothing runs without it", async () => {
  const programs = join(stage.root, "bin");
  await mkdir(programs);
  await symlink(wall.on ? wall.bwrap : "", join(programs, "bwrap"));
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  expect(knownWall(process.env).on).toBe(true);
  await unlink(join(programs, "bwrap"));
  for (const mode of ["require", "auto"] as const) {
    const running = await stage.open({ sandbox: { mode } });
    stage.rehearsal.use([text("done")]);
    const events = await running.turn(await running.session({}, ALLOW_ALL), "Go.");
    expect(the(events, "session.error")).toBeDefined();
    expect(stage.rehearsal.modelRequests).toEqual([]);
  }
});

/** Returns all processes in sandboxes. */
async function untilCommandRuns(): Promise<{ pid: number }[]> {
  const inside = async () => (await Promise.all((await stage.processes().catch(() => [])).map(processesInside))).flat();
  await expect.poll(async () => (await inside()).map(({ command }) => command)).toContain(COMMAND);
  return inside();
}

async function readTree(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // Claude Code may just have deleted one.
  return (await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")))).join("\n");
}
