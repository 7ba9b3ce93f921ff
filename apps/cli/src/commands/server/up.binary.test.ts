import Anthropic from "@anthropic-ai/sdk";
import { always, slowly, text } from "@tandem/rehearsal";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { sessionMachine, startUp } from "../../testing/session-machine.ts";

/** Variables that make Node processes record the host of each connection. */
async function recordConnections(folder: string) {
  const [module, record] = [join(folder, "record.mjs"), join(folder, "connections.txt")];
  await writeFile(
    module,
    `import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
const note = (host) => appendFileSync(${JSON.stringify(record)}, host + "\\n");
subscribe("net.client.socket", ({ socket }) => {
  socket.on("lookup", (error, address, family, host) => note(host));
  socket.on("connectionAttempt", (address) => note(address));
});
`,
  );
  const hosts = async () => (await readFile(record, "utf8")).trim().split("\n");
  return { env: { NODE_OPTIONS: `--import=${pathToFileURL(module).href}` }, hosts };
}

const hello = [always(text("Hello from the rehearsal."))];

describe("tandem up", () => {
  test("keeps its files private, allows one server per home, and cleans up when stopped", async () => {
    await using machine = await sessionMachine(hello);
    await using server = await machine.up();
    const home = machine.variables.TANDEM_HOME;
    for (const file of ["token", "server.json", "tandem.db", "logs/server.log"]) {
      expect((await stat(`${home}/${file}`)).mode & 0o777, file).toBe(0o600);
    }
    expect(await machine.run(["up", "--port", "0"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`A server is already running at ${server.url}`),
    });
    const elsewhere = await machine.run(["up"], { cwd: "../home" });
    expect(elsewhere.stderr).toContain("→ Open it: `tandem open`. Add this folder to it: `tandem folders add`.");
    const { code, stdout, stderr } = await server.stop();
    expect({ code, lines: stdout.trim().split("\n").length }).toEqual({ code: 0, lines: 1 });
    expect(stdout + stderr).not.toContain(server.token);
    await expect(stat(`${home}/server.json`)).rejects.toThrow("ENOENT");
  });

  test("refuses a folder that contains its own data, as the user's home does", async () => {
    await using machine = await scratchMachine();
    const { code, stderr } = await machine.run(["up", "--port", "0"], { cwd: "../home" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("contains Tandem's own data") });
    expect(stderr).toContain("→ Change to the folder of a project");
    expect(await machine.run(["folders", "add", "../home"])).toMatchObject({ code: 2, stderr });
  });

  test("`run` in another folder says why the server is not used, until the folder is added", async () => {
    await using machine = await sessionMachine(hello);
    await using server = await machine.up();
    const other = machine.folder.join("other");
    await mkdir(other);
    const args = ["run", "--cwd", other, "Hello"];
    const alone = await machine.run(args);
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello from the rehearsal.") });
    expect(alone.stderr).toContain(`The server at ${server.url} has other folders`);
    expect(alone.stderr).toContain("Add this folder to the server: tandem folders add");
    expect(await machine.run(["folders", "add", other])).toMatchObject({ code: 0 });
    const listed = JSON.parse((await machine.run(["folders", "--json"])).stdout) as object;
    expect(listed).toEqual({
      folders: [
        { path: machine.project, added: false },
        { path: other, added: true },
      ],
    });
    const onServer = await machine.run(args);
    expect(onServer).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello from the rehearsal.") });
    expect(onServer.stderr).not.toContain("has other folders");
    expect(await machine.run(["folders", "remove", other])).toMatchObject({ code: 0 });
    const { url, token } = server;
    const environment = await fetch(`${url}/v1/environments`, {
      method: "POST",
      headers: { "x-api-key": token, "content-type": "application/json" },
      body: JSON.stringify({ name: "other", config: { type: "cloud" }, metadata: { "tandem.path": other } }),
    });
    expect(environment.status).toBe(403);
  });

  // Windows shows no variables of other processes.
  test.skipIf(process.platform === "win32")("shows no credential among the variables of its processes", async () => {
    await using machine = await sessionMachine(hello);
    const env = {
      ANTHROPIC_API_KEY: "sk-ant-api03-of-a-test-of-variables",
      MY_DATABASE: "postgres://me:of-a-test-too@x/y",
    };
    await using server = await startUp(machine.start(["up", "--json", "--port", "0"], { env }));
    const { pid } = JSON.parse(await readFile(`${machine.variables.TANDEM_HOME}/server.json`, "utf8")) as {
      pid: number;
    };
    const shown = execFileSync("ps", ["eww", "-A"], { encoding: "utf8", maxBuffer: 1 << 26 });
    expect(shown).toMatch(new RegExp(`^\\s*${pid} .*TANDEM_HOME=`, "m"));
    for (const secret of Object.values(env)) expect(shown).not.toContain(secret);
    expect((await fetch(`${server.url}/healthz`)).ok).toBe(true);
  });

  test("reports a used port and touches no session", async () => {
    await using machine = await sessionMachine(hello);
    await using other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await machine.run(["up", "--port", String(port), "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!)).toMatchObject({ error: { code: "port_in_use" } });
  });

  test("after kill -9 the next server starts and ignores the stale server file", async () => {
    await using machine = await sessionMachine([always(slowly(text("word ".repeat(200)), { tokenMs: 50 }))]);
    const dead = await machine.upProcess();
    const client = new Anthropic({ baseURL: dead.url, apiKey: dead.token, maxRetries: 0 });
    const agent = await client.beta.agents.create({ name: "a", model: "sonnet" });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
    await client.beta.sessions.events.send(session.id, {
      events: [{ type: "user.message", content: [{ type: "text", text: "Go." }] }],
    });
    await machine.rehearsal.waitForModelRequest(() => true);
    await dead.stop("SIGKILL");
    const status = JSON.parse((await machine.run(["status", "--json"])).stdout) as { orphans: number[] };
    expect(status).toMatchObject({ server: null });

    await using server = await machine.up();
    // Only without a pid namespace can Claude Code outlive its server, until the next one starts.
    expect(status.orphans.filter(isRunning)).toEqual([]);
    const again = new Anthropic({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
    await expect
      .poll(async () => (await again.beta.sessions.retrieve(session.id)).status, { interval: 250 })
      .toBe("idle");
    const { stdout } = await machine.run(["sessions", "show", session.id]);
    expect(stdout).toContain("› Go.");
    expect(stdout).toContain("died in the middle of the turn");
  });

  test("applies nothing of an untrusted config", async () => {
    await using machine = await scratchMachine("server: { host: 0.0.0.0 }\nsessions: { roots: [/] }\n");
    const { code, stderr } = await machine.run(["up", "--port", "0"]);
    expect(code).toBe(2);
    expect(stderr).toContain("sessions.roots (line 2)");
    await machine.trust();
    // Trust does not suffice: tokens would cross the network unencrypted.
    expect(await machine.run(["up", "--port", "0"])).toMatchObject({ code: 2, stderr: expect.stringContaining("TLS") });
  });

  test("waits for a database that does not answer, says so, and does not start meanwhile", async () => {
    await using machine = await sessionMachine(hello, "");
    const env = { DATABASE_URL: "postgres://u:hunter2@127.0.0.1:9/tandem" };
    const waiting = machine.start(["up", "--port", "0"], { env });
    let [stdout, stderr] = ["", ""];
    waiting.stdout!.on("data", (chunk) => (stdout += String(chunk)));
    waiting.stderr!.on("data", (chunk) => (stderr += String(chunk)));
    await expect.poll(() => stderr).toContain("Postgres does not answer; waiting for it");
    waiting.kill("SIGTERM");
    await once(waiting, "close");
    expect(stdout).toBe("");
    expect(stderr).not.toContain("hunter2");
    const doctor = await machine.run(["doctor", "--json"], { env });
    const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; result: string }[] };
    expect(checks.find(({ name }) => name === "storage")).toMatchObject({ result: "failure" });
  });
});

const UNSHARE = "unshare";
const READ_ONLY_HOME = [UNSHARE, "-m", "sh", "-c", 'mount -t tmpfs -o ro none "$TANDEM_HOME" && exec "$@"', "sh"];
const canMount = spawnSync(UNSHARE, ["-m", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0;

test.runIf(canMount)("a home that cannot be written is named, with a fix (needs the right to mount)", async () => {
  await using machine = await scratchMachine("");
  const home = machine.variables.TANDEM_HOME;
  await mkdir(home, { recursive: true });
  expect(await machine.runProcess(["up", "--port", "0"], { wrapper: READ_ONLY_HOME })).toMatchObject({
    code: 1,
    stderr: `error: The folder ${home} cannot be written: EROFS.\n→ Make it writable, or set TANDEM_HOME to another folder.\n`,
  });
});

const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"], { stdio: "ignore" }).status === 0;

test.runIf(hasOpenssl)(
  "with TLS of its own, this machine's clients believe its certificate and no other (needs openssl)",
  async () => {
    await using machine = await sessionMachine(hello, "server: { tls: { certificate: cert.pem, key: key.pem } }\n");
    const makeCertificate = () =>
      execFileSync(
        OPENSSL,
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=elsewhere.example -keyout key.pem -out cert.pem".split(
          " ",
        ),
        { cwd: machine.project, stdio: "ignore" },
      );
    makeCertificate();
    await using server = await machine.up();
    expect(server.url).toMatch(/^https:/);
    expect(await machine.run(["run", "Hi"])).toMatchObject({ code: 0, stdout: "Hello from the rehearsal.\n" });
    makeCertificate();
    expect(await machine.run(["sessions", "list"])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("cannot be reached"),
    });
  },
);

describe("a token", () => {
  test("has the rights of its scope until it is revoked", async () => {
    await using machine = await sessionMachine(hello);
    await using server = await machine.up();
    const made = await machine.run(["tokens", "add", "dashboard", "--scope", "read", "--json"]);
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    const call = async (method: string, path: string) =>
      (await fetch(`${server.url}${path}`, { method, headers: { "x-api-key": secret } })).status;
    expect(await call("GET", "/v1/sessions")).toBe(200);
    expect(await call("POST", "/v1/sessions/sesn_1/archive")).toBe(403);

    const list = await machine.run(["tokens", "list", "--json"]);
    expect(list.stdout).not.toContain(secret);
    expect(JSON.parse(list.stdout)).toMatchObject({
      tokens: expect.arrayContaining([expect.objectContaining({ id, name: "dashboard", scopes: ["read"] })]),
    });
    expect(await machine.run(["tokens", "remove", "dashbord"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Did you mean dashboard?"),
    });
    expect(await machine.run(["tokens", "remove", "dashboard"])).toMatchObject({ code: 0 });
    expect(await call("GET", "/v1/sessions")).toBe(401);
  });

  test("a revoked server token is replaced at the next start", async () => {
    await using machine = await sessionMachine(hello);
    const first = await machine.up();
    await machine.run(["tokens", "remove", "local"]);
    expect(await machine.run(["sessions", "list"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("Restart the server"),
    });
    await first.stop();
    await using second = await machine.up();
    expect(second.token).not.toBe(first.token);
    expect(await machine.run(["sessions", "list"])).toMatchObject({ code: 0 });
  });
});

describe("the demo", () => {
  test("starts without a login in its own home, is found by other commands, and connects to no other machine", async () => {
    await using machine = await scratchMachine();
    const home = machine.variables.TANDEM_HOME;
    const recorder = await recordConnections(machine.folder.join("home"));
    const start = machine.start(["up", "--json", "--port", "0", "--demo", "if-needed"], { env: recorder.env });
    await using server = await startUp(start);
    await machine.runProcess(["sessions", "list"], { env: recorder.env });
    expect((await machine.run(["sessions", "list"])).stdout).toContain("Free shipping from 60 €");
    const run = await machine.run(["run", "What is in this folder?"]);
    expect(run.stdout).toContain("tandem.yaml");
    expect(run.stdout).toContain("no model was called");
    expect(run.stderr).toContain("The demo is running");
    expect((await machine.run(["status"])).stdout).toContain("demo");
    expect((await machine.run(["demo", "reset"])).stderr).toContain("Stop it with Ctrl-C");
    expect(JSON.parse(await readFile(`${home}/server.json`, "utf8"))).toMatchObject({
      demo: true,
      payer: "nobody",
      url: server.url,
      token_file: `${home}/token`,
      roots: [expect.stringContaining("harbour-bikes")],
    });
    await server.stop();
    expect(new Set(await recorder.hosts()), "no telemetry, no update check").toEqual(new Set(["127.0.0.1"]));
    expect(existsSync(`${home}/tandem.db`)).toBe(false);
    expect(await machine.run(["demo", "reset"])).toMatchObject({ code: 0 });
  });

  test("does not hide the user's own sessions when the login has expired", async () => {
    await using machine = await sessionMachine(hello);
    await machine.run(["run", "Hello"]);
    await writeFile(machine.folder.join("project", "tandem.yaml"), "");
    await machine.run(["trust"]);
    await using _ = await machine.up("--demo", "if-needed");
    expect((await machine.run(["sessions", "list"])).stdout).toContain("Hello");
  });

  test("does not replace a configured key", async () => {
    await using machine = await sessionMachine(hello);
    await using _ = await machine.up("--demo", "if-needed");
    expect(JSON.parse(await readFile(`${machine.variables.TANDEM_HOME}/server.json`, "utf8"))).toMatchObject({
      demo: false,
      payer: "anthropic_api_key",
    });
  });
});

describe("tandem logs", () => {
  test("filters by level and session", async () => {
    await using machine = await sessionMachine(hello);
    expect(await machine.run(["logs"])).toMatchObject({ code: 2, stderr: expect.stringContaining("tandem up") });
    await using server = await machine.up();
    await fetch(`${server.url}/v1/sessions/sesn_one`, { headers: { "x-api-key": server.token } });
    await fetch(`${server.url}/v1/sessions/sesn_two`, { headers: { "x-api-key": server.token } });
    await server.stop();
    const { stdout } = await machine.run(["logs", "--session", "sesn_two"]);
    expect(stdout.trim().split("\n")).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d info +GET +\/v1\/sessions\/sesn_two 404 \d+ ms$/),
    ]);
    const lines = (await machine.run(["logs", "--json", "-n", "2"])).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as { msg: string })).toMatchObject([{}, { msg: "stopping" }]);
    expect((await machine.run(["logs", "--level", "fatal"])).stdout).toBe("");
  });
});
