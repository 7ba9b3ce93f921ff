import { when, text, toolUse } from "@tandem/rehearsal";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createResources } from "./testing/create-resources.ts";
import { BODIES, MARK, QUERIES, type Ids } from "./testing/route-inputs.ts";
import { skillForm } from "./testing/skill-form.ts";
import { must, tenantStage, type Answer } from "./testing/tenant-stage.ts";

// Another tenant requests acme's resources through every route of the server's own description. A new route is included
// automatically: the test fails until `createResources` has its resource and `BODIES` its body.

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
      ids = await createResources(stage, acme);
    });
    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      await place?.close();
    });

    const made = (ids: Ids): Ids =>
      Object.fromEntries(
        Object.entries(ids).map(([name, id]) => [name, id.replace(/.{4}$/, name === "tenant_id" ? "zzzz" : "ZZZZ")]),
      );

    async function ask(token: string, { name, method, path }: Described, given: Ids): Promise<Answer> {
      const named = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
        const id = param === "model_id" ? "sonnet" : given[param];
        if (id === undefined) throw new Error(`${name}: say in createResources what acme has as ${param}.`);
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
        // Unsupported operations are rejected before any lookup; a delivery needs a signature instead of a token.
        const wanted = route.name === "triggers.deliver" ? [401] : [404, 501];
        if (!wanted.includes(there.status) || words(there, ids) !== words(nowhere, made(ids))) {
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

    test("has other keys of workers, which reach its own environments only", async () => {
      const make = async (token: string) => {
        const { body } = await stage.call(token, "POST", "/v1/environments", {
          name: "own",
          config: { type: "self_hosted" },
        });
        const key = await stage.call(token, "POST", `/v1/environments/${body.id}/keys`, {});
        return { queue: `/v1/environments/${body.id}/work/stats`, secret: String(key.body["secret"]) };
      };
      const [own, theirs] = [await make(acme), await make(strangers.get("another tenant's admin")!)];
      const statusAt = async (path: string) => (await stage.call(own.secret, "GET", path)).status;
      expect(await statusAt(own.queue)).toBe(200);
      expect([await statusAt(theirs.queue), await statusAt("/v1/sessions"), await statusAt("/v1/tokens")]).toEqual([
        403, 403, 403,
      ]);
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
