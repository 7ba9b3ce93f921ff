import { afterAll, expect, test } from "vitest";
import { makeUpContext } from "../../../testing/made-up-context.ts";
import { MemoryEngine } from "../../../testing/memory-engine.ts";
import { startTestServer } from "../../../testing/start-test-server.ts";

let now = new Date();
const context = await makeUpContext({ now: () => now });
const server = await startTestServer({ engine: new MemoryEngine().engine, context });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
});

interface Answer {
  status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${server.secret}`, ...(body && { "content-type": "application/json" }) };
  const response = await server.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() };
}

test("pages are listed and read, with their sources", async () => {
  const page = {
    key: "refunds",
    title: "Refunds",
    summary: "When money goes back.",
    tags: [],
    refs: [],
    problem: null,
  };
  expect((await ask("GET", "/v1/context/pages")).body).toEqual({ data: [{ ...page, citations: [] }], next_page: null });
  expect((await ask("GET", "/v1/context/page?key=refunds")).body).toMatchObject({
    ...page,
    path: "wiki/refunds.md",
    body: expect.stringContaining("30 days"),
    sources: [],
  });
  expect((await ask("GET", "/v1/context/page?key=nothing")).status).toBe(404);
  expect((await ask("GET", "/v1/context/page?key=../../tandem.db")).status).toBe(400);
});

test("a page whose passage was deleted reports that", async () => {
  const text = `---
summary: Who decides.
sources:
  - { citation: "docs/who#decides", path: who.md, sha256: "0" }
---

# Who

Finance. [^docs/who#decides]
`;
  await context.context.folder.commit([{ path: "wiki/who.md", content: text, expected: null }], { subject: "A page" });
  expect((await ask("GET", "/v1/context/page?key=who")).body).toMatchObject({
    citations: ["docs/who#decides"],
    sources: [{ citation: "docs/who#decides", path: "who.md", passage: null, is_changed: true }],
  });
  expect(await ask("GET", "/v1/context/passages?citation=docs/who%23decides")).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining("There is no passage docs/who#decides") } },
  });
});

test("a table's position in the layout is stored", async () => {
  const { body } = await ask("GET", "/v1/context/graph?table=orders&depth=1");
  const places = body.nodes.map(({ id, x, y }: { id: string; x: number; y: number }) => ({ id, x, y }));
  const x = (id: string) => places.find((place: { id: string }) => place.id === `shop/main.${id}`).x;
  expect([x("parcels") < x("orders"), x("orders") < x("customers")]).toEqual([true, true]);
  expect(body.box).toEqual({ width: expect.any(Number), height: expect.any(Number) });
});

test("values are found despite typos, with the column that holds them", async () => {
  expect((await ask("GET", "/v1/context/values?values=zurich&values=Atlantis")).body).toEqual({
    found: [
      {
        value: "zurich",
        connection: "shop",
        table: "main.customers",
        column: "city",
        stored: "Zürich",
        match: "spelling",
      },
    ],
    missing: ["Atlantis"],
    left_out: 0,
    incomplete_columns: expect.any(Number),
  });
  expect((await ask("GET", "/v1/context/values")).status).toBe(400);
});

test("a memory is stored once, expires, is forgotten, and is restored", async () => {
  const words = { text: "Revenue excludes refunds.", tags: ["finance"] };
  const said = await ask("POST", "/v1/context/memories", words);
  expect(said).toMatchObject({
    status: 200,
    body: { memory: { ...words, scope: "project", expires_at: null, sources: [{ type: "person" }] }, unchecked: null },
  });
  expect((await ask("POST", "/v1/context/memories", words)).body).toMatchObject({ proposal: null });
  const path = `/v1/context/memories/${said.body.memory.id}`;
  const until = "2999-01-01T00:00:00.000Z";
  expect((await ask("POST", `${path}/keep`, { expires_at: until })).body.proposal).toMatch(/^prop_/);
  const list = async () => (await ask("GET", "/v1/context/memories")).body.data;
  expect(await list()).toMatchObject([{ expires_at: until, is_expired: false, contradicts: [] }]);
  now = new Date("2999-01-01T00:00:01.000Z");
  expect(await list()).toMatchObject([{ expires_at: until, is_expired: true }]);
  expect((await ask("GET", "/v1/context/memories?session=sesn_none")).body.data).toEqual([]);
  const { proposal } = (await ask("DELETE", path)).body;
  expect(await list()).toEqual([]);
  await ask("POST", `/v1/proposals/${proposal}/undo`, {});
  expect(await list()).toMatchObject([words]);
  expect((await ask("DELETE", "/v1/context/memories/mem_none")).status).toBe(404);
  expect((await ask("POST", "/v1/context/memories", { text: "For one.", scope: "agent" })).status).toBe(400);
});
