import { afterAll, describe, expect, test } from "vitest";
import { makeUpContext } from "../../../testing/made-up-context.ts";
import { MemoryEngine } from "../../../testing/memory-engine.ts";
import { StreamReader } from "../../../testing/read-stream.ts";
import { startTestServer } from "../../../testing/start-test-server.ts";
import { routeTable } from "../../route-table.ts";

const context = await makeUpContext();
const server = await startTestServer({ engine: new MemoryEngine().engine, context });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

async function get(path: string) {
  const response = await server.request(path);
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

async function post(path: string, body: object = {}, secret = server.secret) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${secret}` };
  const response = await server.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
}

describe("the context", () => {
  test("describes its contents, and which files cannot be read", async () => {
    expect((await get("/v1/context")).body).toEqual({
      id: context.context.id,
      folder: context.context.folder.path,
      counts: { table: 3, page: 1, memory: 0, metric: 0 },
      connections: [{ name: "shop", driver: "sqlite", tables: 3 }],
      sources: [{ name: "handbook", type: "folder" }],
      job_kinds: ["count", "wait"],
      problems: [],
    });
  });

  test("can be searched", async () => {
    const { body } = await get("/v1/context/search?query=Zürich&kinds[]=value");
    expect(body).toMatchObject({ data: [{ key: "value:shop/main.customers.city", kind: "value" }] });
    expect((await get("/v1/context/search?query=refunds")).body).toMatchObject({ data: [{ key: "page:refunds" }] });
    expect((await get("/v1/context/search")).status).toBe(400);
  });

  test("lists its files in pages and reads them, and no others", async () => {
    const first = await get("/v1/context/files?prefix=catalogue/&limit=2");
    expect(first.body).toEqual({
      data: [{ path: "catalogue/shop/main.customers.yaml" }, { path: "catalogue/shop/main.orders.yaml" }],
      next_page: expect.any(String),
    });
    const rest = await get(
      `/v1/context/files?prefix=catalogue/&limit=2&page=${encodeURIComponent(first.body["next_page"]!)}`,
    );
    expect(rest.body).toEqual({ data: [{ path: "catalogue/shop/main.parcels.yaml" }], next_page: null });
    expect((await get("/v1/context/file?path=wiki/refunds.md")).body).toMatchObject({
      text: expect.stringContaining("30 days"),
    });
    const { data: commits } = (await get("/v1/context/file/history?path=wiki/refunds.md")).body;
    expect(commits).toEqual([
      { commit: expect.any(String), at: expect.any(String), subject: expect.any(String), proposal: null },
    ]);
    expect((await get("/v1/context/file/history?path=wiki/nothing.md")).body).toEqual({ data: [] });
    expect((await get("/v1/context/file/history?path=../tandem.db")).status).toBe(400);
    for (const path of ["../tandem.db", "/etc/passwd", "wiki/../../tandem.db", ".git/config", "wiki/.env"]) {
      expect((await get(`/v1/context/file?path=${encodeURIComponent(path)}`)).status, path).toBe(400);
    }
    expect((await get("/v1/context/file?path=wiki/nothing.md")).status).toBe(404);
  });

  test("lists, describes and joins tables, with the API's field names", async () => {
    const { body } = await get("/v1/context/tables?limit=1");
    expect(body).toEqual({
      data: [
        {
          id: "shop/main.customers",
          connection: "shop",
          schema: "main",
          table: "customers",
          type: "table",
          rows: 120,
          columns: 2,
          joins: 0,
          description: "People who have bought something.",
        },
      ],
      next_page: "shop/main.customers",
    });
    expect((await get("/v1/context/table?name=orders")).body).toMatchObject({
      primary_key: [],
      joins: [{ to: "main.customers", to_columns: ["id"] }],
      joined_from: [{ from: "main.parcels", to_columns: ["id"] }],
    });
    expect((await get("/v1/context/table?name=customer")).body).toMatchObject({
      error: { type: "not_found_error", message: expect.stringContaining("Did you mean customers?") },
    });
    expect((await get("/v1/context/joins?from=customers&to=parcels")).body).toMatchObject({
      sql: expect.stringContaining("JOIN main.parcels ON"),
      warnings: expect.arrayContaining([expect.stringContaining("Rows of orders are repeated")]),
    });
  });

  test("returns a graph up to the requested size", async () => {
    const near = (await get("/v1/context/graph?table=orders&depth=1")).body as unknown as Graph;
    expect(near.nodes.map(({ id, distance }) => [id, distance])).toEqual([
      ["shop/main.orders", 0],
      ["shop/main.customers", 1],
      ["shop/main.parcels", 1],
    ]);
    expect(near.edges).toContainEqual({
      from: "shop/main.parcels",
      to: "shop/main.orders",
      columns: ["order_id"],
      to_columns: ["id"],
      cardinality: "many-to-one",
      origin: "data",
      confidence: 0.93,
    });
    const alone = (await get("/v1/context/graph?table=customers&depth=0")).body as unknown as Graph;
    expect([alone.nodes.length, alone.edges.length, alone.truncated]).toEqual([1, 0, false]);
    const all = (await get("/v1/context/graph?connection=shop&limit=2")).body as unknown as Graph;
    expect([all.nodes[0]!.id, all.nodes.length, all.truncated]).toEqual(["shop/main.orders", 2, true]);
  });

  test("queries its databases", async () => {
    expect((await post("/v1/context/sql", { connection: "shop", sql: "select 1" })).body).toEqual({
      columns: ["answer"],
      rows: [[42]],
      truncated: false,
      estimate: { rows: 1, plan: "SCAN everything" },
      verdict: { verdict: "proven", parts: [] },
      elapsed_ms: expect.any(Number),
    });
    expect((await post("/v1/context/sql", { connection: "shop", sql: "select 1", estimate_only: true })).body).toEqual(
      expect.objectContaining({ rows: [], estimate: { rows: 1, plan: "SCAN everything" } }),
    );
    const reader = await server.secretFor("read");
    expect((await post("/v1/context/sql", { connection: "shop", sql: "select 1" }, reader)).status).toBe(200);
  });
});

interface Graph {
  nodes: { id: string; distance: number }[];
  edges: object[];
  truncated: boolean;
}

describe("proposals", () => {
  const draft = (city: string) => {
    const path = `wiki/${city}.md`;
    const after = `# ${city}\n\nA city.\n`;
    const evidence = [{ type: "person" as const, name: "Ada", at: "2026-01-01T00:00:00Z" }];
    const support = [{ from: 1, to: 3, aspect: "wiki" as const, evidence }];
    return context.context.proposals.propose({
      job: null,
      title: `About ${city}`,
      summary: "",
      drafts: [{ path, before: null, after, support }],
    });
  };

  test("are listed, read, edited, accepted under the token's name, and undone", async () => {
    const { id } = (await draft("bern"))!;
    expect((await get("/v1/proposals?states[]=open&limit=1")).body).toMatchObject({
      data: [{ id, state: "open", counts: { open: 1 }, created_at: expect.any(String) }],
    });
    const whole = (await get(`/v1/proposals/${id}`)).body as unknown as { changes: { hunks: { id: string }[] }[] };
    expect(whole.changes[0]!.hunks[0]).toMatchObject({
      new_lines: ["# bern", "", "A city."],
      old_start: expect.any(Number),
    });
    const edited = await post(`/v1/proposals/${id}/edit`, { path: "wiki/bern.md", after: "# bern\n\nThe capital.\n" });
    expect(edited.status).toBe(200);
    const accepted = await post(`/v1/proposals/${id}/accept`, {}, await server.secretFor("run"));
    expect(accepted.body).toMatchObject({ state: "accepted", changes: [{ hunks: [{ decided_by: "run" }] }] });
    expect(await context.context.folder.read("wiki/bern.md")).toContain("The capital.");
    expect((await post(`/v1/proposals/${id}/undo`)).status).toBe(200);
    expect(await context.context.folder.read("wiki/bern.md")).toBeUndefined();
  });

  test("are rejected, with the reason", async () => {
    const { id } = (await draft("basel"))!;
    expect((await post(`/v1/proposals/${id}/reject`, { reason: "Not ours." })).body).toMatchObject({
      state: "rejected",
      changes: [{ hunks: [{ note: expect.stringContaining("Not ours."), decided_by: "admin" }] }],
    });
    expect(await draft("basel")).toBeUndefined();
  });

  test("large proposals are paged: by number of files and by size", async () => {
    const evidence = [{ type: "person" as const, name: "Ada", at: "2026-01-01T00:00:00Z" }];
    const support = [{ from: 1, to: Infinity, aspect: "wiki" as const, evidence }];
    const drafts = (name: string, count: number, text: string) =>
      Array.from({ length: count }, (_, at) => ({
        path: `wiki/${name}-${String(at).padStart(3, "0")}.md`,
        before: null,
        after: text,
        support,
      }));
    const propose = async (title: string, made: ReturnType<typeof drafts>) =>
      (await context.context.proposals.propose({ job: null, title, summary: "", drafts: made }))!.id;
    const paths = async (id: string, query = "") => {
      const pages: string[][] = [];
      for (let page = ""; ;) {
        const { body } = await get(`/v1/proposals/${id}?${query}${page}`);
        const { changes, next_page } = body as unknown as { changes: { path: string }[]; next_page: string | null };
        pages.push(changes.map(({ path }) => path));
        if (next_page === null) return pages;
        page = `&page=${next_page}`;
      }
    };
    const many = await propose("Many", drafts("many", 120, "# Many\n"));
    const pages = await paths(many);
    expect(pages.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(new Set(pages.flat()).size).toBe(120);
    expect((await paths(many, "limit=100")).map(({ length }) => length)).toEqual([100, 20]);
    expect((await get(`/v1/proposals/${many}?page=elsewhere`)).status).toBe(400);
    const [group] = (await get(`/v1/proposals/${many}?limit=1`)).body["groups"] as unknown as object[];
    expect(group).toMatchObject({
      title: "Wiki pages written by a person",
      area: "wiki",
      files: 120,
      counts: { open: 120 },
      filter: { kinds: ["wiki"], origins: ["person"] },
    });
    expect((await paths(many, "paths[]=many-01*&kinds[]=wiki")).flat()).toHaveLength(10);
    expect((await get(`/v1/proposals/${many}/preview?paths[]=many-01*`)).body).toMatchObject({ hunks: 10, files: 10 });
    expect((await post(`/v1/proposals/${many}/accept`, { hunks: ["1"], filter: {} })).status).toBe(400);
    const matching = await post(`/v1/proposals/${many}/accept`, { filter: { paths: ["many-01*"] } });
    expect(matching.body).toMatchObject({ counts: { accepted: 10, open: 110 } });
    const accepted = await post(`/v1/proposals/${many}/accept`);
    expect(accepted.body).toMatchObject({ counts: { accepted: 120 }, next_page: expect.any(String) });
    const long = Array.from({ length: 10_000 }, (_, at) => `Line ${at} is about as long as a line is in a page.`);
    const large = await propose("Large", drafts("large", 8, `${long.join("\n")}\n`));
    const shares = await paths(large);
    expect(shares.length).toBeGreaterThan(2);
    expect(shares.flat()).toHaveLength(8);
  });

  test("proposals that do not exist cannot be decided", async () => {
    expect((await get("/v1/proposals/prop_none")).status).toBe(404);
    expect((await post("/v1/proposals/prop_none/accept")).status).toBe(404);
    expect((await post("/v1/proposals/prop_none/answer", { decision: "1", answer: "yes" })).status).toBe(404);
  });
});

describe("jobs", () => {
  test("are started, and stream their events from the start or after an id, until they end", async () => {
    const { body, status } = await post("/v1/jobs", { kind: "count", params: { to: 3 } });
    expect([status, body]).toEqual([200, expect.objectContaining({ kind: "count", params: { to: 3 }, error: null })]);
    const path = `/v1/jobs/${body["id"]}/events/stream`;
    await using stream = await StreamReader.open(server, path);
    await stream.ended();
    const types = stream.events.map(({ data }) => (data!["event"] as { type: string }).type);
    expect(types).toEqual(["started", "stage_finished", "stage_finished", "stage_finished", "spent", "ended"]);
    expect(stream.events.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    await using later = await StreamReader.open(server, path, { "last-event-id": "4" });
    await later.ended();
    expect(later.events.map(({ id }) => id)).toEqual(["5", "6"]);
    const page = await get(`/v1/jobs/${body["id"]}/events?limit=4`);
    expect(page.body).toMatchObject({ next_page: "4" });
    expect((await get(`/v1/jobs/${body["id"]}/events?limit=4&page=4`)).body).toMatchObject({ next_page: null });
    expect((await get(`/v1/jobs/${body["id"]}`)).body).toMatchObject({ state: "done", result: { counted: 3 } });
    expect((await get("/v1/jobs?kind=count&states[]=done")).body).toMatchObject({ data: [{ id: body["id"] }] });
  });

  test("with invalid params or an unknown kind are refused before they start", async () => {
    expect(await post("/v1/jobs", { kind: "count", params: { to: 0 } })).toMatchObject({ status: 400 });
    expect(await post("/v1/jobs", { kind: "cuont" })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("Did you mean count?") } },
    });
  });

  test("are cancelled, once", async () => {
    const { body } = await post("/v1/jobs", { kind: "wait" });
    const path = `/v1/jobs/${body["id"]}`;
    expect(await post("/v1/jobs", { kind: "wait" })).toMatchObject({ status: 409 });
    expect((await post(`${path}/cancel`)).status).toBe(200);
    await expect.poll(async () => (await get(path)).body["state"]).toBe("cancelled");
    expect((await post(`${path}/cancel`)).status).toBe(409);
  });

  test("of other contexts are not found", async () => {
    const now = new Date().toISOString();
    const row = { kind: "scan", params: {}, state: "queued", progress: null, result: null, error: null } as const;
    const times = { cancelRequested: false, createdAt: now, startedAt: null, endedAt: null };
    await context.jobs.create({ ...row, ...times, id: "job_other" as never, space: "somewhere else" });
    for (const path of ["", "/events", "/events/stream"]) {
      expect((await get(`/v1/jobs/job_other${path}`)).status).toBe(404);
    }
    expect((await post("/v1/jobs/job_other/cancel")).status).toBe(404);
  });
});

test("a server without a context reports that at every route that needs one", async () => {
  await using bare = await startTestServer({ engine: new MemoryEngine().engine });
  // Search finds nothing instead: it is part of searches over everything.
  expect(await (await bare.request("/v1/context/search?query=a")).json()).toMatchObject({ data: [] });
  const routes = routeTable.filter(
    ({ name, path }) => /^\/v1\/(context|proposals|jobs)/.test(path) && name !== "context.search",
  );
  expect(routes.length).toBeGreaterThan(20);
  const needed: Record<string, string> = {
    "context.files.retrieve": "?path=a",
    "context.files.history": "?path=a",
    "context.tables.retrieve": "?name=a",
    "context.joins.retrieve": "?from=a&to=b",
    "context.values.find": "?values=a",
    "context.metrics.retrieve": "?name=a",
    "context.metrics.fields": "?metrics=a",
    "context.pages.retrieve": "?key=a",
    "context.passages.list": "?citation=a",
  };
  const bodies: Record<string, object> = {
    "context.sql": { connection: "a", sql: "b" },
    "context.metrics.query": { metrics: ["a"] },
    "context.memories.create": { text: "a" },
    "context.memories.keep": { expires_at: null },
    "proposals.edit": { path: "a", after: "b" },
    "proposals.answer": { decision: "a", answer: "b" },
    "jobs.create": { kind: "a" },
    "jobs.plan": { kind: "scan" },
  };
  for (const { name, method, path } of routes) {
    // These create the context.
    if (/^context\.(connections|sources)\./.test(name)) continue;
    const response = await bare.request(path.replaceAll(/:\w+/g, "some_id") + (needed[name] ?? ""), {
      method,
      ...(method === "POST" && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(bodies[name] ?? {}),
      }),
    });
    expect([name, response.status, await response.text()]).toEqual([name, 404, expect.stringContaining("no context")]);
  }
});
