import { createClient, createPageKey, createSignedFetch } from "@tandem/client";
import { text, toolUse, type ModelRequest } from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { must, OPERATORS_SECRET, tenantStage, until, type Answer } from "./testing/tenant-stage.ts";

let stage: Awaited<ReturnType<typeof tenantStage>>;
const tokens: Record<string, string> = {};

/** A script that prints the environment of commands. A session told to wait waits for an interrupt. */
function script({ lastUserText, toolResults }: ModelRequest) {
  if (lastUserText.includes("look") && toolResults.length === 0) return toolUse("Bash", { command: "env; pwd" });
  if (lastUserText.includes("wait") && toolResults.length === 0) {
    return toolUse("Bash", { command: "tail -F /dev/null" });
  }
  return text("Done.");
}

beforeAll(async () => {
  stage = await tenantStage(script, "", { AWS_REGION: "nowhere", SHELL_NOTE: OPERATORS_SECRET });
  for (const id of ["acme", "zeta"]) tokens[id] = await stage.tenant(id);
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const as = (id: string) => ({
  get: (path: string) => must(stage.call(tokens[id]!, "GET", path)),
  post: (path: string, body?: unknown) => must(stage.call(tokens[id]!, "POST", path, body)),
  try: (path: string, body?: unknown) => stage.call(tokens[id]!, "POST", path, body),
});

/** Starts a session in a folder of the tenant. */
async function begin(id: string, words?: string): Promise<string> {
  const agent = await as(id).post("/v1/agents", {
    name: "worker",
    model: "sonnet",
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
    // On the server's own machine.
    mcp_servers: [{ type: "url", name: "near", url: `${stage.up.url}/mcp` }],
  });
  const session = await as(id).post("/v1/sessions", { agent: agent.body.id, environment_id: "env_local" });
  if (words !== undefined) await say(id, session.body.id, words);
  return session.body.id;
}

const say = (id: string, session: string, words: string) =>
  as(id).post(`/v1/sessions/${session}/events`, {
    events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
  });

const interrupt = (id: string, session: string) =>
  as(id).post(`/v1/sessions/${session}/events`, { events: [{ type: "user.interrupt" }] });

const status = (id: string, session: string, wanted: string) =>
  until(
    () => as(id).get(`/v1/sessions/${session}`),
    ({ body }) => body["status"] === wanted,
  );

const typesOf = ({ body }: Answer): unknown[] => body.data.map(({ type }) => type);

/** The program that bubblewrap runs: the first child of the sandbox's init. */
async function programOf(pid: number): Promise<number> {
  const isWrapper = (await readFile(`/proc/${pid}/comm`, "utf8")).trim() === "bwrap";
  if (!isWrapper) return pid;
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ");
  return programOf(Number(child));
}

/** The tenant's Claude Code processes, as listed by the system. */
async function processesOf(id: string) {
  const names = await readdir(join(stage.homeOf(id), "processes"));
  const pids = [...new Set(names.map((name) => Number.parseInt(name, 10)))];
  return Promise.all(
    (await Promise.all(pids.map(programOf))).map(async (pid) => ({
      pid,
      cwd: await readlink(`/proc/${pid}/cwd`),
      variables: Object.fromEntries(
        (await readFile(`/proc/${pid}/environ`, "utf8"))
          .split("\0")
          .filter(Boolean)
          .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
      ) as Record<string, string>,
    })),
  );
}

describe("two tenants are isolated", () => {
  /** One session of each tenant. */
  const sessions: Record<string, string> = {};

  test("model requests use each tenant's own key and variables", async () => {
    for (const id of ["acme", "zeta"]) {
      sessions[id] = await begin(id, "Please look around");
      await until(
        () => as(id).get(`/v1/sessions/${sessions[id]}/events?limit=100`),
        (answer) => typesOf(answer).includes("session.status_idle"),
      );
    }
    const requests = stage.machine.rehearsal.modelRequests.filter((each) => each.toolResults.length > 0);
    const byKey = new Map(requests.map((request) => [request.headers["x-api-key"], JSON.stringify(request.body)]));
    expect(new Set(byKey.keys())).toEqual(new Set(["sk-ant-acme", "sk-ant-zeta"]));
    for (const [id, other] of [
      ["acme", "zeta"],
      ["zeta", "acme"],
    ] as const) {
      const body = byKey.get(`sk-ant-${id}`)!;
      expect(body).toContain(`HOME=${stage.homeOf(id)}/home`);
      expect(body).toContain(`${stage.homeOf(id)}/project`);
      expect(body).not.toContain(stage.homeOf(other));
      expect(body).not.toContain(OPERATORS_SECRET);
    }
  });

  test("a tenant's admins cannot name MCP servers at private addresses", async () => {
    const { body } = await as("acme").get(`/v1/sessions/${sessions["acme"]}/events`);
    expect(body.data).toContainEqual(
      expect.objectContaining({
        type: "session.error",
        error: expect.objectContaining({
          type: "mcp_connection_failed_error",
          message: expect.stringContaining("private or reserved address"),
        }),
      }),
    );
  });

  test.skipIf(process.platform !== "linux")("folders, variables and processes are separate", async () => {
    for (const id of ["acme", "zeta"]) await say(id, sessions[id]!, "Please wait");
    for (const id of ["acme", "zeta"]) {
      await until(
        () => as(id).get(`/v1/sessions/${sessions[id]}/events?limit=100`),
        // The first call looked around.
        (answer) => typesOf(answer).filter((type) => type === "agent.tool_use").length === 2,
      );
    }
    const [acme, zeta] = [await processesOf("acme"), await processesOf("zeta")];
    expect([acme.length, zeta.length]).toEqual([1, 1]);
    expect(acme[0]!.pid).not.toBe(zeta[0]!.pid);
    for (const [id, [found]] of Object.entries({ acme, zeta })) {
      const home = stage.homeOf(id);
      expect(found!.cwd).toBe(join(home, "project"));
      const { HOME, CLAUDE_CONFIG_DIR } = found!.variables;
      for (const folder of [HOME, CLAUDE_CONFIG_DIR]) expect(folder).toContain(`${home}/`);
      // Contains neither the operator's values nor paths to them.
      const shown = JSON.stringify(found!.variables);
      expect(shown).not.toContain(OPERATORS_SECRET);
      expect(shown).not.toContain("sk-ant");
      expect(Object.keys(found!.variables)).not.toContain("AWS_REGION");
      expect(Object.keys(found!.variables).filter((name) => name.startsWith("TANDEM_"))).toEqual([]);
    }
    for (const id of ["acme", "zeta"]) await interrupt(id, sessions[id]!);
    for (const id of ["acme", "zeta"]) await status(id, sessions[id]!, "idle");
  });

  test("their files are private", async () => {
    for (const id of ["acme", "zeta"]) {
      const home = stage.homeOf(id);
      for (const folder of [
        home,
        ...["project", "home", "claude", "tmp", "processes"].map((name) => join(home, name)),
      ]) {
        expect(`${folder}: ${((await stat(folder)).mode & 0o777).toString(8)}`).toBe(`${folder}: 700`);
      }
    }
  });

  test("a tenant's sign-in link gives access to that tenant and its tokens only", async () => {
    const { body } = await as("acme").post("/v1/sign_in/codes");
    const key = await createPageKey();
    const signedIn = await fetch(`${stage.up.url}/v1/sign_in`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: body["code"], key: key.publicKey }),
    });
    expect(signedIn.status).toBe(200);
    const browser = createClient({ baseUrl: stage.up.url, fetch: createSignedFetch({ key: async () => key }) });
    expect((await browser.call("tenant.retrieve")).id).toBe("acme");
    const listed = await as("acme").get("/v1/tokens");
    expect(new Set(listed.body.data.map(({ tenant }) => tenant))).toEqual(new Set(["acme"]));
    const all = await must(stage.call(stage.up.token, "GET", "/v1/tokens"));
    expect(new Set(all.body.data.map(({ tenant }) => tenant))).toEqual(new Set(["default", "acme", "zeta"]));
  });
});

describe("a tenant's quotas are enforced and reported", () => {
  const limit = (quotas: Record<string, number | null>) =>
    must(stage.call(stage.up.token, "POST", "/v1/tenants/acme", { quotas }));

  test("concurrent turns: a message waits and starts when a turn has ended", async () => {
    await limit({ turns: 1 });
    const first = await begin("acme", "Please wait");
    await status("acme", first, "running");
    const second = await begin("acme", "Hello");
    const log = () => as("acme").get(`/v1/sessions/${second}/events`);
    const told = await until(log, (answer) => typesOf(answer).includes("tandem.notice"));
    expect(JSON.stringify(told.body)).toContain("1 turn runs already, the maximum.");
    expect(typesOf(told)).not.toContain("session.status_running");
    // Other tenants are not delayed.
    await status("zeta", await begin("zeta", "Hello"), "idle");
    await interrupt("acme", first);
    await until(log, (answer) => typesOf(answer).includes("agent.message"));
    expect(typesOf(await log()).filter((type) => type === "tandem.notice")).toHaveLength(1);
    await limit({ turns: null });
  });

  test("sessions and bytes of files", async () => {
    const { body } = await as("acme").get("/v1/tenant");
    const { open_sessions: open } = body["use"] as { open_sessions: number };
    expect(open).toBeGreaterThan(0);
    await limit({ sessions: open, file_bytes: 1_000 });
    const [agent] = (await as("acme").get("/v1/agents")).body.data;
    const refused = await as("acme").try("/v1/sessions", { agent: agent!["id"], environment_id: "env_local" });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining(`There are ${open} sessions, the maximum.`),
    ]);
    const form = new FormData();
    form.append("file", new Blob(["x".repeat(1_001)]), "large.txt");
    const large = await as("acme").try("/v1/files", form);
    expect([large.status, large.text]).toEqual([413, expect.stringContaining("2 kB do not fit")]);
    await limit({ sessions: null, file_bytes: null });
    await as("acme").post("/v1/sessions", { agent: agent!["id"], environment_id: "env_local" });
  });

  test("daily cost: the operator's limit caps that of the tenant's admins", async () => {
    await limit({ usd_per_day: 0.000_001 });
    await as("acme").post("/v1/budgets", { scope: "day", limits: { usd: 1_000 } });
    const session = await begin("acme", "Hello");
    const log = await until(
      () => as("acme").get(`/v1/sessions/${session}/events`),
      (answer) => typesOf(answer).includes("tandem.budget"),
    );
    expect(JSON.stringify(log.body)).toContain("All sessions of the day used");
    const spent = await as("acme").get("/v1/budgets");
    expect(spent.body.data.find(({ scope, unit }) => scope === "day" && unit === "usd")).toMatchObject({
      limit: 0.000_001,
    });
    await limit({ usd_per_day: null });
  });
});

describe("the operator", () => {
  test("stops all tenants, and no tenant can resume before the operator does", async () => {
    const stop = () => as("zeta").get("/v1/stop");
    await must(stage.call(stage.up.token, "POST", "/v1/stop", { reason: "Something is in a loop" }));
    expect((await stop()).body["stopped"]).toMatchObject({ by: "the operator", reason: "Something is in a loop" });
    expect((await as("zeta").try("/v1/resume")).status).toBe(403);
    await must(stage.call(stage.up.token, "POST", "/v1/resume"));
    expect((await stop()).body["stopped"]).toBeNull();
  });

  test("archives a tenant: its tokens fail like unknown ones, and its turns end", async () => {
    const session = await begin("zeta", "Please wait");
    await status("zeta", session, "running");
    const operator = (method: string, path: string) => stage.call(stage.up.token, method, path);
    await must(operator("POST", "/v1/tenants/zeta/archive"));
    const words = ({ status: code, text: said }: Answer) => [code, said.replaceAll(/req_\w+/g, "req")];
    const refused = await stage.call(tokens["zeta"]!, "GET", "/v1/sessions");
    expect(words(refused)).toEqual(words(await stage.call("tandem_nobodys", "GET", "/v1/sessions")));
    expect(await readdir(join(stage.homeOf("zeta"), "processes"))).toEqual([]);
    await must(operator("POST", "/v1/tenants/zeta/restore"));
    expect((await as("zeta").get(`/v1/sessions/${session}`)).body["status"]).toBe("idle");
  });

  test("deletes a tenant, but not a running one and no folder outside its own", async () => {
    const folder = stage.machine.folder.join("lent");
    await mkdir(folder);
    const operator = (method: string, path: string, body?: unknown) => stage.call(stage.up.token, method, path, body);
    await must(operator("POST", "/v1/tenants", { id: "lab", project: folder }));
    const taken = await operator("POST", "/v1/tenants", { id: "other", project: join(folder) });
    expect([taken.status, taken.text]).toEqual([400, expect.stringContaining("shares files with the project of lab")]);
    expect((await operator("DELETE", "/v1/tenants/lab")).status).toBe(409);
    await must(operator("POST", "/v1/tenants/lab/archive"));
    await must(operator("DELETE", "/v1/tenants/lab"));
    expect((await operator("GET", "/v1/tenants/lab")).status).toBe(404);
    expect([existsSync(stage.homeOf("lab")), existsSync(folder)]).toEqual([false, true]);
  });
});
