import { text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { whyNoSandbox } from "@tandem/sessions";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { must, tenantStage, until, type Answer } from "./testing/tenant-stage.ts";
import { strangerScript, type StrangerTargets } from "./testing/stranger-script.ts";

const missing = await whyNoSandbox(process.env);
const isRoot = process.getuid?.() === 0;

/** Commands that sessions run, by the word in the message. */
const commands: Record<string, string> = {};

function script({ lastUserText, toolResults }: ModelRequest) {
  const command = commands[/Please run (\w+)/.exec(lastUserText)?.[1] ?? ""];
  return command !== undefined && toolResults.length === 0 ? toolUse("Bash", { command }) : text("Done.");
}

describe.skipIf(missing !== undefined)(
  `an agent that tries to reach another tenant${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    let stage: Awaited<ReturnType<typeof tenantStage>>;
    const tokens: Record<string, string> = {};
    const canary = `canary-${crypto.randomUUID()}`;
    let targets: StrangerTargets;
    let victim: string;

    const get = (id: string, path: string) => must(stage.call(tokens[id]!, "GET", path));
    const post = (id: string, path: string, body?: unknown) => must(stage.call(tokens[id]!, "POST", path, body));
    const say = (id: string, session: string, words: string) =>
      post(id, `/v1/sessions/${session}/events`, {
        events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
      });

    async function begin(id: string, environment: string): Promise<string> {
      const agent = await post(id, "/v1/agents", {
        name: "worker",
        model: "sonnet",
        tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
      });
      return (await post(id, "/v1/sessions", { agent: agent.body.id, environment_id: environment })).body.id;
    }

    const events = (id: string, session: string) => get(id, `/v1/sessions/${session}/events?limit=200`);

    async function start(id: string, session: string, name: string, lines: string): Promise<void> {
      await post(id, `/v1/sessions/${session}/files/content`, { path: `bin/${name}`, text: lines });
      commands[name] = `bash bin/${name}`;
      await say(id, session, `Please run ${name}`);
    }

    /** The output of a script that the session's agent runs unasked. In a file, because the gate asks about paths in Tandem's folder. */
    async function run(id: string, session: string, name: string, lines: string): Promise<string> {
      await start(id, session, name, lines);
      const isOver = ({ body }: Answer): boolean => {
        const asked = body.data.findIndex((event) => JSON.stringify(event).includes(`Please run ${name}"`));
        const idle = body.data.findLastIndex(({ type }) => type === "session.status_idle");
        return asked >= 0 && idle > asked;
      };
      const { body } = await until(() => events(id, session), isOver);
      const results = body.data.filter(({ type }) => type === "agent.tool_result");
      const result = results.at(-1);
      if (!result) throw new Error(JSON.stringify(body.data).slice(-4_000));
      return JSON.stringify(result["content"]);
    }

    beforeAll(async () => {
      stage = await tenantStage(script, "", { LENT_KEY: "sk-ant-lent" });
      // Folders of tests are private; an OS user must be able to pass, as through /var/lib.
      await chmod(stage.machine.folder.path, 0o755);
      const { folder, variables } = stage.machine;
      for (const id of ["acme", "zeta"]) tokens[id] = await stage.tenant(id);
      const project = folder.join("lent");
      await mkdir(project);
      const credential = { auth: "api_key", secret: "env:LENT_KEY", base_url: stage.machine.rehearsal.url };
      await must(stage.call(stage.up.token, "POST", "/v1/tenants", { id: "lent", project, credential }));
      const token = { name: "lent-admin", scopes: ["admin"], tenant: "lent" };
      tokens["lent"] = String((await must(stage.call(stage.up.token, "POST", "/v1/tokens", token))).body["secret"]);

      const { id: environment } = (await post("zeta", "/v1/environments", { name: "scratch" })).body;
      victim = await begin("zeta", environment);
      const planted = `echo ${canary} > mine; echo ${canary} > ~/mine; pwd`;
      await run("zeta", victim, "plant", planted);
      const home = stage.homeOf("zeta");
      await writeFile(join(home, "project", "notes"), canary);
      await start("zeta", victim, "wait", `exec -a ${canary} tail -F /dev/null`);
      const pid = await findProcess(canary);
      const sockets = (await readdir("/tmp")).filter((name) => name.startsWith(`tandem-sandbox-${process.pid}-`));
      targets = {
        canary,
        files: {
          "the project": join(home, "project", "notes"),
          "the scratch folder": join(home, "scratch", victim, "mine"),
          "the session's home": join(home, "sandboxes", victim, "home", "mine"),
        },
        servers: {
          "the API token": stage.up.tokenFile,
          "the database": join(variables.TANDEM_HOME, "tandem.db"),
          "the server's file": join(variables.TANDEM_HOME, "server.json"),
        },
        folders: { "the tenant's folder": [home, "scratch"], "all tenants": [join(home, ".."), "zeta"] },
        sockets: sockets.map((name) => join("/tmp", name)),
        pid,
        port: Number(new URL(stage.up.url).port),
      };
    });
    afterAll(async () => {
      // A server waits for a running turn.
      await post("zeta", `/v1/sessions/${victim}/events`, { events: [{ type: "user.interrupt" }] }).catch(() => {});
      await stage?.[Symbol.asyncDispose]();
    });

    test("could reach all of it without a sandbox, as the server's user", async () => {
      const place = { cwd: stage.machine.folder.join("tmp") };
      const { stdout: said } = await promisify(execFile)("/bin/bash", ["-c", strangerScript(targets)], place);
      expect(said.split("\n").filter((line) => line.startsWith("blocked"))).toEqual([]);
      for (const target of ["the API token", "sockets 0", "the scratch folder"])
        expect(said).toContain(`reached ${target}`);
    });

    test.each([
      ["acme", isRoot ? "as an OS user of its own" : "in namespaces"],
      ["lent", "in namespaces alone"],
    ])("%s: reaches nothing, %s", async (id) => {
      const [file] = Object.values(targets.files);
      const before = await readFile(file!, "utf8");
      const session = await begin(id, "env_local");
      const said = await run(id, session, `attack_${id}`, strangerScript(targets));
      expect(said).not.toContain("reached");
      expect(said).toContain("blocked the API token");
      expect(said).not.toContain(canary);
      // The server, which can read everything, follows no link that the agent made.
      const read = await stage.call(tokens[id]!, "GET", `/v1/sessions/${session}/files/content?path=stolen`);
      expect([read.status, read.text]).toEqual([expect.any(Number), expect.not.stringContaining(canary)]);
      expect(read.status).toBeGreaterThanOrEqual(400);
      await must(stage.call(tokens[id]!, "DELETE", `/v1/sessions/${session}/files?path=stolen`));
      expect(await readFile(file!, "utf8")).toBe(before);
    });

    test("an agent works in a repository as its tenant's OS user, and a rewind gives it the old files", async () => {
      const { id: environment } = (await post("acme", "/v1/environments", { name: "own" })).body;
      const session = await begin("acme", environment);
      const first = await run(
        "acme",
        session,
        "first",
        "id -u; git init -q . && echo one > a && git add a && git -c user.name=A -c user.email=a@example.com commit -qm one && echo ok",
      );
      expect(first).toMatch(isRoot ? /"200000000\d\\nok/ : /\d+\\nok/);
      expect(await run("acme", session, "second", "echo two > a; mkdir made; echo x > made/b; echo done")).toContain(
        "done",
      );
      await post("acme", `/v1/sessions/${session}/rewind`, { turn: 2, scope: "files" });
      const folder = join(stage.homeOf("acme"), "scratch", session);
      expect(await readFile(join(folder, "a"), "utf8")).toBe("one\n");
      const { uid } = await stat(folder);
      expect(uid === process.getuid?.()).toBe(!isRoot);
      for (const name of ["a", "bin", "bin/first", ".git"])
        expect([name, (await stat(join(folder, name))).uid]).toEqual([name, uid]);
      expect(await run("acme", session, "third", "echo three >> a && git status --short && cat a")).toContain(
        "one\\nthree",
      );
      await must(stage.call(tokens["acme"]!, "DELETE", `/v1/sessions/${session}`));
      await expect(stat(folder)).rejects.toMatchObject({ code: "ENOENT" });
    });

    test("git makes and reads a worktree as the tenant's OS user", async () => {
      const project = join(stage.homeOf("acme"), "project");
      const commit = "git -c user.name=A -c user.email=a@example.com commit -qm one";
      const made = `git init -q . && echo one > a && git add a && ${commit} && echo ok`;
      expect(await run("acme", await begin("acme", "env_local"), "repository", made)).toContain("ok");
      const metadata = { "tandem.path": project, "tandem.isolation": "worktree" };
      const { id: environment } = (await post("acme", "/v1/environments", { name: "trees", metadata })).body;
      const session = await begin("acme", environment);
      const tree = join(stage.homeOf("acme"), "worktrees", session);
      const { uid } = await stat(project);
      expect(uid === process.getuid?.()).toBe(!isRoot);
      // Before the first turn, which gives the folder to that user.
      for (const path of [tree, join(tree, "a"), join(project, ".git", "worktrees", session)])
        expect([path, (await stat(path)).uid]).toEqual([path, uid]);
      expect(await run("acme", session, "change", "echo two > a && git status --short && echo done")).toContain("done");
      const status = await get("acme", `/v1/sessions/${session}/worktree`);
      expect(status.body["files"]).toContainEqual({ path: "a", added: 1, removed: 1 });
      await must(stage.call(tokens["acme"]!, "POST", `/v1/sessions/${session}/worktree/apply`, {}));
      expect(await readFile(join(project, "a"), "utf8")).toBe("two\n");
    });
  },
);

/** The process whose command line starts with a word. */
async function findProcess(word: string): Promise<number> {
  for (const deadline = Date.now() + 150_000; Date.now() < deadline;) {
    for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
      const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      if (command.startsWith(word)) return Number(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`No process ${word} appeared.`);
}
