import { expect, test } from "vitest";
import { MemoryEngine } from "../testing/memory-engine.ts";
import { startTestServer } from "../testing/start-test-server.ts";
import { describedRoutes, routeTable } from "./route-table.ts";

interface Operation {
  operationId: string;
  parameters: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

test("the document has every route, and every reference resolves", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const document = (await (await server.request("/openapi.json")).json()) as Document;
  expect(document.openapi).toBe("3.1.0");
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const described = operations.flatMap(({ operationId }) => operationId ?? []);
  expect(described.toSorted()).toEqual(describedRoutes.map(({ name }) => name).toSorted());
  const text = JSON.stringify(document);
  const references = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!));
  expect([...references].filter((name) => !(name in document.components.schemas))).toEqual([]);
  expect([...references]).toEqual(
    expect.arrayContaining(["Agent", "Session", "SessionEvent", "Message", "Environment"]),
  );
  expect(text).not.toContain("$defs");
  // Every response has a schema.
  const downloads = new Set(routeTable.filter(({ kind }) => kind === "download").map(({ name }) => name));
  for (const { operationId, responses } of operations) {
    if (operationId === undefined || downloads.has(operationId)) continue;
    const [content] = Object.values((responses["200"] ?? responses["202"])!.content!);
    expect(Object.keys(content!.schema as object), operationId).not.toEqual([]);
  }
});

test("streams and lists document their parameters", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const document = (await (await server.request("/openapi.json")).json()) as Document;
  const stream = document.paths["/v1/sessions/{session_id}/events/stream"]!["get"]!;
  expect(Object.keys(stream.responses["200"]!.content!)).toEqual(["text/event-stream"]);
  expect(stream.parameters.map(({ name }) => name)).toEqual([
    "session_id",
    "event_deltas[]",
    "tandem",
    "Last-Event-ID",
  ]);
  const list = document.paths["/v1/sessions"]!["get"]!;
  expect(list.parameters.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["statuses[]", "created_at[gte]", "limit"]),
  );
});

test("what the server sends may have more fields in later versions", async () => {
  await using server = await startTestServer({ engine: new MemoryEngine().engine });
  const { components } = (await (await server.request("/openapi.json")).json()) as Document;
  const closed = (name: string): boolean =>
    JSON.stringify(components.schemas[name]).includes('"additionalProperties":false');
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(["SessionEvent", "Session", "Agent"]));
  expect(
    Object.keys(components.schemas).filter((name) => /Event$|^Session$|^Agent$/.test(name) && closed(name)),
  ).toEqual([]);
});
