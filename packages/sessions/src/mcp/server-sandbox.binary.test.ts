import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectServer, ProcessLedger } from "@tandem/claude-code";
import { systemClock, type SessionEventBody } from "@tandem/protocol";
import { knownWall } from "@tandem/sandbox";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { ServerSandboxSettings } from "./server-sandbox.ts";
import type { ServerConfinement } from "./server-confinement.ts";
import { inSandbox, openServerSandbox, type LocalServer } from "./server-sandbox.ts";

/** An MCP server with one tool, which runs a shell command and returns its output. */
const SERVER = `
const { execFileSync } = require("node:child_process");
const run = (command) => {
  try { return execFileSync("/bin/sh", ["-c", command], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }); }
  catch (error) { return "failed: " + error.stderr; }
};
const answer = ({ method, params }) => {
  if (method === "initialize") return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "probe", version: "1" } };
  if (method === "tools/list") return { tools: [{ name: "run", inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: run(params.arguments.command) }] };
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) }));
});`;

const DEADLINE_MS = 60_000 * inject("slowness");
const CONFIGURED: ServerConfinement = {
  type: "sandbox",
  folder: "read",
  hosts: "public",
  mounts: [],
  seesCommand: true,
};

let root: string;
let settings: ServerSandboxSettings;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "tandem-mcp-")));
  for (const name of ["folder", "server/lib", "home/.ssh", "state/other", "extra"]) {
    await mkdir(join(root, name), { recursive: true });
  }
  const files = {
    "folder/a.txt": "mine",
    "home/.ssh/id": "ssh secret",
    "state/token": "state secret",
    "extra/e": "extra",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  await writeFile(join(root, "server/lib/index.cjs"), SERVER);
  await writeFile(join(root, "server/package.json"), "{}");
  await symlink(join(root, "server/lib/index.cjs"), join(root, "server/start.cjs"));
  settings = {
    clock: systemClock,
    hostVariables: {
      PATH: process.env["PATH"] ?? "",
      HOME: join(root, "home"),
      // Of this machine's network: its password must not be inside.
      ...Object.fromEntries(
        ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "all_proxy"].map((name) => [
          name,
          "http://ada:pass-of-proxy@127.0.0.1:9",
        ]),
      ),
    },
    stateFolder: join(root, "state"),
    sandbox: { mode: "require" },
    openHosts: async () => ({
      networking: { type: "default" },
      packages: [],
      isAllowed: () => false,
      refused: ({ host, message, fix }) => ({
        type: "tandem.sandbox_violation",
        kind: "host",
        target: host,
        rule: message,
        fix,
      }),
    }),
  };
});
afterAll(() => rm(root, { recursive: true, force: true }));

const serverOf = (confinement?: ServerConfinement): LocalServer => ({
  name: "probe",
  origin: `test:${confinement ? "configured" : "folder"}`,
  endpoint: {
    type: "stdio",
    command: process.execPath,
    args: [confinement ? join(root, "server/start.cjs") : "server.cjs"],
    variables: { OWN_TOKEN: "own secret", HOME: "/nowhere" },
    folder: join(root, "folder"),
  },
  ...(confinement && { confinement }),
});

/** Runs commands in the server's process. */
async function connect(server: LocalServer, seen: SessionEventBody[] = []) {
  const opened = new AsyncDisposableStack();
  const row = { id: "sesn_1", folder: join(root, "folder"), environmentId: "env_1" };
  const sandbox = opened.use(await openServerSandbox(server, row, settings, (events) => seen.push(...events)));
  const connection = opened.use(
    await connectServer(sandbox ? inSandbox(server, sandbox) : server.endpoint, {
      ledger: new ProcessLedger(join(root, "state/processes")),
      hostVariables: settings.hostVariables,
      connectMs: DEADLINE_MS,
      callMs: DEADLINE_MS,
      onToolsChanged: () => {},
    }),
  );
  return {
    async run(command: string): Promise<string> {
      const { content } = await connection.call("run", { command }, AbortSignal.timeout(DEADLINE_MS));
      return content[0]?.type === "text" ? content[0].text.trim() : "";
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const wall = knownWall(process.env);

describe.skipIf(!wall.on)(`a local MCP server in its sandbox${wall.on ? "" : ` (${wall.reason})`}`, () => {
  it("of the configuration: sees its program and variables, reads the folder, and nothing else of the machine", async () => {
    await using server = await connect(
      serverOf({ ...CONFIGURED, mounts: [{ path: join(root, "extra"), write: true }] }),
    );
    expect(await server.run("cat a.txt; echo; echo $OWN_TOKEN; cat " + join(root, "extra/e"))).toBe(
      "mine\nown secret\nextra",
    );
    expect(await server.run("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")).not.toContain("pass-of-proxy");
    expect(await server.run("touch a.txt new.txt")).toMatch(/failed: .*Read-only file system/s);
    expect(await server.run(`cat ${join(root, "home/.ssh/id")} ${join(root, "state/token")}`)).not.toContain("secret");
    expect(await server.run("ls /run/tandem; env | grep -c ANTHROPIC || true")).not.toContain("api.sock");
    expect(await server.run(`echo $HOME; touch $HOME/kept && ls $HOME`)).toBe(`${join(root, "home")}\nkept`);
    await expect(readFile(join(root, "home/kept"))).rejects.toThrow("ENOENT");
  });

  it("reaches nothing that listens on this machine", async () => {
    const listener = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    await using server = await connect(serverOf(CONFIGURED));
    const ask = `curl -sS --max-time 5 http://127.0.0.1:${port}/ 2>&1; curl -sS --max-time 5 --noproxy '' -x $HTTP_PROXY http://127.0.0.1:${port}/ 2>&1`;
    expect(await server.run(ask)).not.toContain("reached");
    listener.close();
  });

  it("of a folder: writes the folder, and uses the session's hosts only", async () => {
    await writeFile(join(root, "folder/server.cjs"), SERVER);
    const seen: SessionEventBody[] = [];
    await using server = await connect(serverOf(), seen);
    expect(await server.run("echo changed > b.txt; cat b.txt")).toBe("changed");
    expect(await readFile(join(root, "folder/b.txt"), "utf8")).toBe("changed\n");
    expect(await server.run("curl -sS --max-time 5 https://elsewhere.example/ 2>&1 || true")).toContain("403");
    expect(seen).toMatchObject([{ type: "tandem.sandbox_violation", kind: "host", target: "elsewhere.example" }]);
  });

  it("of npx: a program that an agent planted in the folder's node_modules runs in the sandbox only", async () => {
    const programs = join(root, "folder/node_modules/.bin");
    await mkdir(programs, { recursive: true });
    const [outside, ssh] = [join(root, "outside"), join(root, "home/.ssh/id")];
    const attempt = `try { require("node:fs").writeFileSync(${JSON.stringify(outside)}, "planted"); } catch {}`;
    await writeFile(join(programs, "tool-server"), `#!/usr/bin/env node\n${attempt}\n${SERVER}`, { mode: 0o755 });
    const { endpoint, ...configured } = serverOf(CONFIGURED);
    const npx = { ...endpoint, command: "npx", args: ["--no-install", "tool-server"] };
    await using server = await connect({ ...configured, endpoint: npx });
    // It is the planted one.
    expect(await server.run("cat node_modules/.bin/tool-server")).toContain("planted");
    expect(await server.run(`cat ${ssh} ${join(root, "state/token")}; touch ${outside} a.txt`)).not.toContain("secret");
    await expect(readFile(outside)).rejects.toThrow("ENOENT");
    await rm(join(root, "folder/node_modules"), { recursive: true });
  });

  it("runs outside if the configuration says so", async () => {
    await using server = await connect(serverOf({ type: "none" }));
    expect(await server.run(`cat ${join(root, "home/.ssh/id")}`)).toBe("ssh secret");
  });
});
