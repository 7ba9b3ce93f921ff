import { listenOnLoopback } from "@tandem/rehearsal";
import { createServer } from "node:http";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HookConfig } from "@tandem/protocol";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { escaping } from "../testing/escaping.ts";
import { HostHooks } from "./host-hooks.ts";
import { pinHooks } from "./pin-hooks.ts";

let root: string;
beforeEach(async () => {
  root = await scratchFolder();
});

const run = () => ({
  folder: root,
  stateFolder: root,
  hostVariables: { PATH: process.env["PATH"] ?? "", ANTHROPIC_API_KEY: "sk-ant-of-the-host", SECRET: "x" },
  signal: new AbortController().signal,
});

const shell = (script: string, extra: Partial<HookConfig> = {}): HookConfig => ({
  name: "guard",
  on: "beforeTool",
  command: ["/bin/sh", "-c", script],
  timeout: 10_000 * inject("slowness"),
  failure: "block",
  ...extra,
});
const ask = (hooks: HookConfig[], tool = "Bash", input: Record<string, unknown> = { command: "ls" }) =>
  new HostHooks(hooks).ask({ on: "beforeTool", tool, input, about: { session_id: "sess_1" } }, run());
const say = (answer: object): string => `echo '${JSON.stringify(answer)}'`;

describe("a command hook", () => {
  test("gets the call on stdin, and a reduced environment", async () => {
    const said = await ask([shell(`cat > asked.json; env > env.txt; ${say({ context: "$(pwd)" })}`)]);
    expect(said).toMatchObject({ allow: true, events: [{ outcome: "changed", hook: "guard" }] });
    expect(JSON.parse(await readFile(join(root, "asked.json"), "utf8"))).toEqual({
      on: "beforeTool",
      session_id: "sess_1",
      input: { command: "ls" },
    });
    const variables = await readFile(join(root, "env.txt"), "utf8");
    expect(variables).not.toMatch(/sk-ant|SECRET/);
  });

  test("runs no program that an agent has planted: relative entries of PATH and those in the folder do not count", async () => {
    for (const folder of ["node_modules/.bin", "bin"]) {
      await mkdir(join(root, folder), { recursive: true });
      await writeFile(join(root, folder, "guard"), "#!/bin/sh\ntouch planted\n", { mode: 0o755 });
    }
    await symlink(join(root, "bin"), `${root}-link`);
    onTestFinished(() => rm(`${root}-link`));
    const path = [join(root, "node_modules/.bin"), "node_modules/.bin", ".", `${root}-link`, process.env["PATH"] ?? ""];
    const place = { ...run(), hostVariables: { PATH: path.join(":") } };
    const bare = { ...shell(""), command: ["guard"] };
    const inShell = shell(`guard; printf '%s' "$PATH" > path; printf '%s' "$TANDEM_FOLDER" > folder`);
    const question = { on: "beforeTool", tool: "Bash", input: {}, about: {} } as const;
    expect(await new HostHooks([bare]).ask(question, place)).toMatchObject({ allow: false });
    await new HostHooks([inShell]).ask(question, place);
    expect(await readdir(root)).not.toContain("planted");
    expect(await readFile(join(root, "path"), "utf8")).toBe(process.env["PATH"]);
    expect(await readFile(join(root, "folder"), "utf8")).toBe(root);
  });

  test("does not delay the turn by leaving a process that holds its output", async () => {
    const begun = Date.now();
    expect(await ask([shell(`${escaping}; ${say({})}`)])).toMatchObject({ allow: true });
    const late = await ask([shell(`${escaping}; tail -f /dev/null`, { timeout: 2_000 })]);
    expect(late).toMatchObject({ allow: false, message: expect.stringContaining("longer than 2 s") });
    expect(Date.now() - begun).toBeLessThan(15_000 * inject("slowness"));
  });

  test("may print nothing", async () => {
    expect(await ask([shell("true")])).toMatchObject({ allow: true, events: [{ outcome: "passed" }] });
  });

  test("may block, and later hooks do not run", async () => {
    const said = await ask([shell(say({ decision: "block", message: "Not on a Friday." })), shell("touch asked")]);
    expect(said).toMatchObject({ allow: false, message: "Not on a Friday.", events: [{ outcome: "blocked" }] });
    expect(await readdir(root)).not.toContain("asked");
  });

  test("may change the input, and the next hook gets the change", async () => {
    const first = shell(say({ input: { command: "ls -l" } }));
    const second = shell(`cat > seen.json`);
    const said = await ask([first, second]);
    expect(said).toMatchObject({ allow: true, input: { command: "ls -l" } });
    expect(await readFile(join(root, "seen.json"), "utf8")).toContain("ls -l");
  });

  test("runs only for its tools", async () => {
    const hooks = [shell(say({ decision: "block" }), { tool: "edit" })];
    expect(await ask(hooks, "Bash")).toMatchObject({ allow: true, events: [] });
    expect(await ask(hooks, "Write")).toMatchObject({ allow: false });
    const servers = [shell(say({ decision: "block" }), { tool: "mcp__github__*" })];
    expect(await ask(servers, "mcp__github__merge")).toMatchObject({ allow: false });
    expect(await ask(servers, "mcp__gitlab__merge")).toMatchObject({ allow: true });
  });
});

describe("a hook in the project's files", () => {
  test("is the project's file, not the session folder's, and is refused once it has changed", async () => {
    const project = join(root, "project");
    const folder = join(root, "session");
    for (const each of [project, folder]) await mkdir(join(each, "hooks"), { recursive: true });
    const put = (at: string, message: string) =>
      writeFile(at, `#!/bin/sh\n${say({ decision: "block", message })}\n`, { mode: 0o755 });
    await put(join(project, "hooks/check.sh"), "of the project");
    await put(join(folder, "hooks/check.sh"), "of the agent");
    for (const command of [["./hooks/check.sh"], ["sh", "hooks/check.sh"]]) {
      await put(join(project, "hooks/check.sh"), "of the project");
      const hooks = new HostHooks(pinHooks([shell("", { command })], project));
      const asking = () => hooks.ask({ on: "beforeTool", tool: "Bash", input: {}, about: {} }, { ...run(), folder });
      expect(await asking()).toMatchObject({ allow: false, message: "of the project" });
      await put(join(project, "hooks/check.sh"), "changed");
      expect(await asking()).toMatchObject({
        allow: false,
        message: expect.stringContaining("check.sh has changed since"),
        events: [{ outcome: "failed" }],
      });
      await rm(join(project, "hooks/check.sh"));
      expect(await asking()).toMatchObject({ allow: false, events: [{ outcome: "failed" }] });
    }
  });

  test("a hook that was missing at the start is not run when it is added later", async () => {
    const hooks = new HostHooks(pinHooks([shell("", { command: ["./late.sh"] })], root));
    await writeFile(join(root, "late.sh"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
    const said = await hooks.ask({ on: "beforeTool", tool: "Bash", input: {}, about: {} }, run());
    expect(said).toMatchObject({ allow: false, message: expect.stringContaining("was not there") });
    expect(await readdir(root)).not.toContain("ran");
  });
});

describe("a failing hook blocks, unless configured otherwise", () => {
  test.each([
    ["ends with an error", shell("echo no >&2; exit 3"), "it ended with 3: no"],
    ["is not there", shell("", { command: ["./no-such-program"] }), "ENOENT"],
    ["says what is no JSON", shell("echo yes"), "no JSON"],
    ["says what a hook may not say", shell(say({ decision: "maybe" })), "not what a hook may say"],
    ["says more than a hook may say", shell(say({ decision: "allow", rule: "*" })), "not what a hook may say"],
    ["takes too long", shell("tail -f /dev/null", { timeout: 300 }), "longer than 0.3 s"],
    ["leaves something behind that goes on", shell("tail -f /dev/null & sleep 60", { timeout: 300 }), "longer than"],
  ])("a hook that %s", async (_, hook, why) => {
    const blocked = await ask([hook]);
    expect(blocked).toMatchObject({ allow: false, events: [{ outcome: "failed" }] });
    expect(blocked).toHaveProperty("message", expect.stringContaining(why));
    expect(await ask([{ ...hook, failure: "ignore" }])).toMatchObject({ allow: true, events: [{ outcome: "failed" }] });
    expect(await readdir(join(root, "processes")), "nothing is left in the ledger").toEqual([]);
  });
});

describe("an HTTP hook", () => {
  async function serve(status: number, body: string, headers: Record<string, string> = {}) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      request.resume().on("end", () => response.writeHead(status, headers).end(body));
    });
    const { url, ...listening } = await listenOnLoopback(server);
    const hook: HookConfig = { name: "web", on: "beforeTool", url: `${url}/hook`, timeout: 5_000, failure: "block" };
    return { ...listening, hook, asked };
  }

  test("is called by POST", async () => {
    await using web = await serve(200, JSON.stringify({ context: "Mind the tests." }));
    expect(await ask([web.hook])).toMatchObject({ allow: true, context: "Mind the tests." });
  });

  test("an HTTP hook that redirects fails: redirects are not followed", async () => {
    await using elsewhere = await serve(200, "{}");
    await using web = await serve(302, "", { location: elsewhere.hook.url! });
    expect(await ask([web.hook])).toMatchObject({ allow: false });
    expect(elsewhere.asked).toEqual([]);
  });

  test("an HTTP hook that responds with an error fails", async () => {
    await using web = await serve(500, "{}");
    expect(await ask([web.hook])).toMatchObject({ allow: false, message: expect.stringContaining("status 500") });
  });
});
