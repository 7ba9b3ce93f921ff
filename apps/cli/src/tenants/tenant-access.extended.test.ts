import { when, text, toolUse } from "@tandem/rehearsal";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { must, tenantStage, until, type Answer } from "./testing/tenant-stage.ts";
import { skillForm } from "./testing/skill-form.ts";

// Another tenant requests acme's resources through every route of the server's own description. A new route is included
// automatically: the test fails until `idsOf` has its resource and `BODIES` its body.

/** Part of all of acme's data. Another tenant that sees it has found a leak. */
const MARK = "violet-heron";

type Ids = Record<string, string>;

/** Request bodies of routes that need one, with acme's ids in all references. */
const BODIES: Record<string, (ids: Ids) => unknown> = {
  "agents.create": () => ({ name: "own", model: "sonnet" }),
  "agents.update": () => ({ name: "taken", version: 1 }),
  "environments.create": ({ folder }) => ({ name: "theirs", metadata: { "tandem.path": folder } }),
  "environments.update": () => ({ name: "taken" }),
  "deployments.create": ({ agent_id, environment_id }) => ({
    name: "theirs",
    agent: agent_id,
    environment_id,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Hello" }] }],
  }),
  "deployments.update": () => ({ name: "taken" }),
  "deployments.triggers.create": () => ({ verification: { type: "github" } }),
  "deployments.triggers.update": () => ({ name: "taken" }),
  "sessions.create": ({ agent_id, environment_id }) => ({ agent: agent_id, environment_id }),
  "sessions.update": () => ({ title: "taken" }),
  "sessions.events.send": () => ({ events: [{ type: "user.interrupt" }] }),
  "sessions.resources.add": ({ file_id }) => ({ type: "file", file_id }),
  "sessions.resources.update": () => ({ authorization_token: "x" }),
  "sessions.files.write": () => ({ path: "taken.txt", text: "taken" }),
  "sessions.files.move": () => ({ from: "notes.txt", to: "taken.txt" }),
  "sessions.files.makeFolder": () => ({ path: "taken" }),
  "sessions.shell.run": () => ({ command: "pwd" }),
  "sessions.rewind": () => ({ turn: 1 }),
  "sessions.fork": () => ({}),
  "approvals.answer": () => ({ result: "allow" }),
  "organization.webhooks.create": () => ({ url: "https://example.com/", enabled_events: ["session.created"] }),
  "organization.webhooks.update": () => ({ name: "taken" }),
  "memoryStores.create": () => ({ name: "own" }),
  "memoryStores.update": () => ({ name: "taken" }),
  "memoryStores.memories.create": () => ({ path: "/a.md", content: "x" }),
  "memoryStores.memories.update": () => ({ content: "taken" }),
  "mcp_servers.accept": () => ({ hash: "x" }),
  "budgets.set": ({ session_id }) => ({ scope: "session", of: session_id, limits: { usd: 1 } }),
  "tokens.create": ({ tenant_id: tenant }) => ({ name: "theirs", scopes: ["admin"], tenant }),
  "tenants.create": () => ({ id: "theirs" }),
  "tenants.update": () => ({ name: "taken" }),
  "context.sql": () => ({ connection: "shop", sql: "select 1" }),
  "context.metrics.query": () => ({ metrics: ["herons"] }),
  "context.memories.create": () => ({ text: "own" }),
  "context.memories.keep": () => ({ expires_at: "2030-01-01T00:00:00Z" }),
  "proposals.edit": () => ({ path: "wiki/a.md", after: "taken" }),
  "proposals.answer": () => ({ decision: "x", answer: "taken" }),
  "jobs.create": ({ session_id }) => ({ kind: "memory", params: { session: session_id } }),
  "rules.create": ({ session_id }) => ({ tool: "Bash", action: "deny", scope: "session", of: session_id }),
  "rules.test": ({ session_id }) => ({ call: "Bash(ls)", session_id }),
  "messages.create": () => ({ model: "sonnet", max_tokens: 1, messages: [{ role: "user", content: "Hello" }] }),
  "messages.countTokens": () => ({ model: "sonnet", messages: [{ role: "user", content: "Hello" }] }),
  "audit.verify": () => ({ noted: [] }),
};

/** Query parameters of routes. */
const QUERIES: Record<string, (ids: Ids) => Record<string, string>> = {
  "commands.list": ({ folder }) => ({ folder: folder! }),
  "trust.retrieve": ({ folder }) => ({ folder: folder! }),
  "sessions.files.search": () => ({ text: MARK }),
  "sessions.files.read": () => ({ path: "notes.txt" }),
  "sessions.files.delete": () => ({ path: "notes.txt" }),
  "deployments.list": ({ agent_id }) => ({ agent_id: agent_id! }),
  "deploymentRuns.list": ({ deployment_id }) => ({ deployment_id: deployment_id! }),
  "sessions.list": ({ agent_id }) => ({ agent_id: agent_id! }),
  "approvals.list": ({ session_id }) => ({ session_id: session_id! }),
  "files.list": ({ file_id }) => ({ ids: file_id! }),
  "audit.list": ({ session_id }) => ({ session_id: session_id! }),
  "context.search": () => ({ query: "violet heron" }),
  "context.metrics.retrieve": () => ({ name: "herons" }),
  "context.metrics.fields": () => ({ metrics: "herons" }),
  "context.files.retrieve": () => ({ path: "wiki/heron.md" }),
  "context.files.history": () => ({ path: "wiki/heron.md" }),
  "context.pages.retrieve": () => ({ key: "heron" }),
  "context.tables.retrieve": () => ({ name: "main.heron" }),
  "context.joins.retrieve": () => ({ from: "main.heron", to: "main.other" }),
  "context.values.find": () => ({ values: "heron" }),
  "context.graph.retrieve": () => ({ table: "main.heron" }),
  "context.passages.list": () => ({ citation: "heron" }),
  "context.memories.list": ({ session_id }) => ({ session: session_id! }),
  "rules.list": ({ session_id }) => ({ scope: "session", of: session_id! }),
};

/** Routes without tenant data: the list of models is built in. */
const PUBLIC = new Set(["models.retrieve"]);

interface Described {
  name: string;
  method: string;
  path: string;
}

const places = [
  { name: "SQLite", why: undefined, open: async () => ({ settings: "", variables: {}, close: async () => {} }) },
  {
    name: "Postgres",
    why: whyNoPostgres(),
    open: async () => {
      const postgres = await startPostgres();
      return {
        settings: `storage: { url: "env:TEST_DATABASE" }\n`,
        variables: { TEST_DATABASE: await postgres.createDatabase() },
        close: () => postgres[Symbol.asyncDispose](),
      };
    },
  },
];

describe.each(places)("on $name", ({ name, why, open }) => {
  describe.skipIf(why)("another tenant", () => {
    let place: Awaited<ReturnType<typeof open>>;
    let stage: Awaited<ReturnType<typeof tenantStage>>;
    let routes: Described[];
    let acme: string;
    const strangers = new Map<string, string>();
    let ids: Ids;

    beforeAll(async () => {
      place = await open();
      stage = await tenantStage(
        [
          when(({ lastUserText }) => lastUserText.includes("write"), toolUse("Bash", { command: "touch x" })),
          text(MARK),
        ],
        place.settings,
        place.variables,
      );
      acme = await stage.tenant(
        "acme",
        {},
        { "heron.md": `---\nsummary: ${MARK} is a bird.\n---\n\n# The violet heron\n\nIt is called ${MARK}.\n` },
      );
      strangers.set("another tenant's admin", await stage.tenant("zeta"));
      strangers.set("the operator, without the tenant's token", stage.up.token);
      const { body } = await stage.call(acme, "GET", "/openapi.json");
      routes = Object.entries(body["paths"] as Record<string, Record<string, { operationId: string }>>).flatMap(
        ([path, methods]) =>
          Object.entries(methods).map(([method, { operationId }]) => ({
            name: operationId,
            method: method.toUpperCase(),
            path,
          })),
      );
      ids = await idsOf(acme);
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      await place?.close();
    });

    /** Creates one of each resource for acme. */
    async function idsOf(token: string): Promise<Ids> {
      const post = (path: string, body: unknown) => must(stage.call(token, "POST", path, body));
      const get = (path: string) => must(stage.call(token, "GET", path));
      const folder = `${stage.homeOf("acme")}/project`;
      const agent = await post("/v1/agents", {
        name: MARK,
        model: "sonnet",
        system: MARK,
        tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_ask" } } }],
      });
      const environment = await post("/v1/environments", { name: MARK, metadata: { "tandem.path": folder } });
      const archived = await post("/v1/environments", { name: "archived", metadata: { "tandem.path": folder } });
      const deployment = await post("/v1/deployments", {
        name: MARK,
        agent: agent.body.id,
        environment_id: archived.body.id,
        initial_events: [{ type: "user.message", content: [{ type: "text", text: MARK }] }],
      });
      await post(`/v1/environments/${archived.body.id}/archive`, undefined);
      const run = await post(`/v1/deployments/${deployment.body.id}/run`, undefined);
      const trigger = await post(`/v1/deployments/${deployment.body.id}/triggers`, {
        name: MARK,
        verification: { type: "github" },
      });
      const form = new FormData();
      form.append("file", new Blob([MARK]), "notes.txt");
      const file = await must(stage.call(token, "POST", "/v1/files", form));
      const skill = await must(stage.call(token, "POST", "/v1/skills", skillForm(MARK)));
      const session = await post("/v1/sessions", {
        agent: agent.body.id,
        environment_id: environment.body.id,
        title: MARK,
        resources: [{ type: "file", file_id: file.body.id }],
        initial_events: [{ type: "user.message", content: [{ type: "text", text: `Please write about ${MARK}` }] }],
      });
      const at = `/v1/sessions/${session.body.id}`;
      const approvals = await until(
        () => get("/v1/approvals"),
        ({ body }) => body.data.length > 0,
      );
      const store = await post("/v1/memory_stores", { name: MARK });
      const memories = `/v1/memory_stores/${store.body.id}`;
      const memory = await post(`${memories}/memories`, { path: "/heron.md", content: MARK });
      const versions = await get(`${memories}/memory_versions`);
      const webhook = await post("/v1/organizations/webhooks", {
        name: MARK,
        url: `https://127.0.0.1/${MARK}`,
        enabled_events: ["vault.created"],
      });
      const hooked = `/v1/organizations/webhooks/${webhook.body.id}`;
      await post(`${hooked}/test`, undefined);
      const deliveries = await get(`${hooked}/deliveries`);
      const rule = await post("/v1/rules", { tool: "Bash", pattern: MARK, action: "deny", reason: MARK });
      const known = await post("/v1/context/memories", { text: `The heron is called ${MARK}.` });
      const job = await post("/v1/jobs", { kind: "memory", params: { session: session.body.id } });
      const proposals = await until(
        () => get("/v1/proposals"),
        ({ body }) => body.data.length > 0,
      );
      const [threads, events, resources, tokens] = await Promise.all([
        get(`${at}/threads`),
        get(`${at}/events`),
        get(`${at}/resources`),
        get("/v1/tokens"),
      ]);
      const first = ({ body }: Answer): string => String(body.data[0]?.["id"]);
      return {
        folder,
        agent_id: agent.body.id,
        environment_id: environment.body.id,
        deployment_id: deployment.body.id,
        deployment_run_id: run.body.id,
        trigger_id: trigger.body.id,
        file_id: file.body.id,
        skill_id: skill.body.id,
        version: String(skill.body["latest_version_id"]),
        session_id: session.body.id,
        approval_id: first(approvals),
        thread_id: first(threads),
        event_id: first(events),
        resource_id: first(resources),
        token_id: first(tokens),
        webhook_endpoint_id: webhook.body.id,
        delivery_id: first(deliveries),
        memory_store_id: store.body.id,
        memory_id: memory.body.id,
        memory_version_id: first(versions),
        rule_id: rule.body.id,
        job_id: job.body.id,
        proposal_id: first(proposals),
        tenant_id: "acme",
        key: session.body.id,
        worker_id: "wrk_01",
        task_id: "task_1",
        mcp_server_id: "mcp_01",
        known: known.body["id"] ?? "",
      };
    }

    const made = (ids: Ids): Ids =>
      Object.fromEntries(
        Object.entries(ids).map(([name, id]) => [name, id.replace(/.{4}$/, name === "tenant_id" ? "zzzz" : "ZZZZ")]),
      );

    async function ask(token: string, { name, method, path }: Described, given: Ids): Promise<Answer> {
      const named = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
        const id = param === "model_id" ? "sonnet" : given[param];
        if (id === undefined) throw new Error(`${name}: say in idsOf what acme has as ${param}.`);
        return encodeURIComponent(id);
      });
      const query = QUERIES[name] ? `?${new URLSearchParams(QUERIES[name](given)).toString()}` : "";
      const form = new FormData();
      form.append("file", new Blob(["own"]), "own.txt");
      const isSkill = name === "skills.create" || name === "skills.versions.create";
      const body = isSkill ? skillForm("own") : name === "files.upload" ? form : BODIES[name]?.(given);
      if (name === "feed.stream") return readFeed(token, named);
      return stage.call(token, method, named + query, body);
    }

    /** Reads the start of an endless stream. */
    async function readFeed(token: string, path: string): Promise<Answer> {
      const leave = new AbortController();
      const response = await fetch(`${stage.up.url}${path}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: leave.signal,
      });
      let said = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        said += chunk;
        if (said.includes("snapshot")) break;
      }
      leave.abort();
      return { status: response.status, text: said, body: { id: "", data: [] } };
    }

    /** Normalizes a response, without the requested id and the request id, to compare existing with unknown resources. */
    const words = ({ status, text: said }: Answer, given: Ids): string =>
      Object.values(given)
        .toSorted((a, b) => b.length - a.length)
        .reduce((left, id) => (id ? left.replaceAll(id, "…") : left), `${status} ${said}`)
        .replaceAll(/req_\w+/g, "req");

    test("covers every route", () => {
      expect(routes.length).toBeGreaterThan(110);
      for (const name of [...Object.keys(BODIES), ...Object.keys(QUERIES)]) {
        expect(routes.map((route) => route.name)).toContain(name);
      }
    });

    // The operator's token takes the same path on both databases.
    test.each([
      "another tenant's admin",
      ...(name === "SQLite" || inject("soak") ? ["the operator, without the tenant's token"] : []),
    ])("(%s) finds nothing at any route by an id of acme's, and cannot tell that it exists", async (who) => {
      const token = strangers.get(who)!;
      const found: string[] = [];
      for (const route of routes.filter(({ path, name }) => path.includes("{") && !PUBLIC.has(name))) {
        const isOperators = who.startsWith("the operator") && /^(tenants|fleet|tokens)\./.test(route.name);
        if (isOperators) continue;
        const there = await ask(token, route, ids);
        const nowhere = await ask(token, route, made(ids));
        // Unsupported operations are rejected before any lookup.
        if ((there.status !== 404 && there.status !== 501) || words(there, ids) !== words(nowhere, made(ids))) {
          found.push(`${route.name}: ${words(there, ids)} | ${words(nowhere, made(ids))}`);
        }
      }
      expect(found).toEqual([]);
    });

    test("finds nothing in lists, streams, searches or exports, and its writes have no effect", async () => {
      const token = strangers.get("another tenant's admin")!;
      const secrets = [MARK, ...Object.entries(ids).flatMap(([name, id]) => (IS_OWN.has(name) ? [] : [id]))];
      const found: string[] = [];
      for (const route of routes.filter(({ path, name }) => !path.includes("{") && name !== "openapi.retrieve")) {
        const answer = await ask(token, route, ids);
        // The response may repeat the request, but nothing else.
        const sent = JSON.stringify([BODIES[route.name]?.(ids), QUERIES[route.name]?.(ids)]);
        const leaked = secrets.filter((secret) => secret && answer.text.includes(secret) && !sent.includes(secret));
        if (leaked.length > 0) found.push(`${route.name}: ${answer.status} ${leaked.join(", ")}`);
        // A validation error proves nothing: add the missing field to BODIES or QUERIES.
        if (answer.text.includes("is missing")) found.push(`${route.name}: ${words(answer, ids)}`);
        if (answer.status >= 400) {
          const nowhere = await ask(token, route, made(ids));
          if (words(answer, ids) !== words(nowhere, made(ids))) {
            found.push(`${route.name}: ${words(answer, ids)} | ${words(nowhere, made(ids))}`);
          }
        }
        if (answer.status >= 500 && answer.status !== 501) found.push(`${route.name}: ${words(answer, ids)}`);
      }
      expect(found).toEqual([]);
    });

    test("cannot reach the routes of the machine", async () => {
      const token = strangers.get("another tenant's admin")!;
      const own = routes.filter(({ name }) => /^(status|trust|tenants|credentials|fleet\.(status|dead))/.test(name));
      const answers = await Promise.all(own.map((route) => ask(token, route, ids)));
      expect(own.length).toBeGreaterThan(8);
      expect(new Set(answers.map((answer) => words(answer, ids)))).toEqual(
        new Set([words(await stage.call(token, "GET", "/v1/nothing"), ids)]),
      );
    });

    test("finds nothing over MCP", async () => {
      const ask = async (token: string, session: string | null, message: Record<string, unknown>) => {
        const response = await fetch(`${stage.up.url}/mcp`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...(session && { "mcp-session-id": session }),
          },
          body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        });
        return { status: response.status, id: response.headers.get("mcp-session-id"), text: await response.text() };
      };
      const hello = {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      };
      const search = {
        id: 2,
        method: "tools/call",
        params: { name: "context_search", arguments: { query: "violet heron" } },
      };
      const zeta = strangers.get("another tenant's admin")!;
      const theirs = await ask(acme, null, hello);
      const own = await ask(zeta, null, hello);
      expect([theirs.status, own.status]).toEqual([200, 200]);
      expect((await ask(zeta, own.id, search)).text).not.toContain(MARK);
      // Another tenant's connection is reported like an unknown one.
      const taken = await ask(zeta, theirs.id, search);
      const none = await ask(zeta, crypto.randomUUID(), search);
      expect(taken).toEqual(none);
      expect(taken.status).toBe(404);
    });

    test("finds nothing over ACP", async () => {
      const zeta = strangers.get("another tenant's admin")!;
      const begin = async (token: string): Promise<string> => {
        const { headers } = await acp(
          token,
          "POST",
          {},
          { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } },
        );
        return headers.get("acp-connection-id")!;
      };
      const [theirs, own] = [await begin(acme), await begin(zeta)];
      const listen = async (token: string, connection: string, session: string) => {
        const answer = await acp(token, "GET", { "acp-connection-id": connection, "acp-session-id": session });
        return `${answer.status} ${(await answer.text()).replaceAll(/req_\w+/g, "req").replaceAll(session, "…")}`;
      };
      const unknown = ids["session_id"]!.replace(/.{4}$/, "ZZZZ");
      expect(await listen(zeta, own, ids["session_id"]!)).toBe(await listen(zeta, own, unknown));
      expect(await listen(zeta, own, ids["session_id"]!)).toMatch(/^404/);
      expect(await listen(zeta, theirs, ids["session_id"]!)).toMatch(/^404/);
    });

    const acp = (token: string, method: string, headers: Record<string, string>, body?: unknown) =>
      fetch(`${stage.up.url}/acp`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "text/event-stream",
          ...headers,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(20_000),
      });

    test("acme still has all of its data", async () => {
      const session = await must(stage.call(acme, "GET", `/v1/sessions/${ids["session_id"]}`));
      expect(session.body["title"]).toBe(MARK);
      expect((await must(stage.call(acme, "GET", `/v1/files/${ids["file_id"]}/content`))).text).toBe(MARK);
      // The other tenant's stop requests affected only itself.
      expect((await must(stage.call(acme, "GET", "/v1/stop"))).body).toEqual({ stopped: null });
      const searched = await must(stage.call(acme, "GET", "/v1/context/search?query=violet+heron"));
      expect(searched.text).toContain(MARK);
      expect((await must(stage.call(acme, "GET", "/v1/tenant"))).body).toMatchObject({
        id: "acme",
        name: "acme Ltd",
        is_operator: false,
      });
    });
  });
});

/** Ids that are not specific to acme and reveal nothing. */
const IS_OWN = new Set(["key", "worker_id", "task_id", "mcp_server_id", "known", "folder", "tenant_id"]);
