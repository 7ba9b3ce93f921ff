import type { Backend } from "@tandem/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeTables } from "../describe-tables.ts";
import { tableKey } from "../../privacy/scanned-table.ts";
import { suggestJoins } from "../suggest-joins.ts";
import { askedTables, describeAll, nameJoins } from "./scan-answers.ts";
import { makeScanned, makeTable } from "./make-table.ts";
import { MemoryRun } from "./memory-run.ts";
import { RehearsedBackend } from "./rehearsed-backend.ts";
import { openScanStage } from "./scan-stage.ts";

/** Verifies a scan's model requests on one backend. */
export function scanContract(name: Exclude<Backend, "none">): void {
  describe(`a scan's model calls on ${name}`, () => {
    let backend: RehearsedBackend;
    beforeAll(async () => {
      backend = await RehearsedBackend.open(name);
    });
    afterAll(() => backend[Symbol.asyncDispose]());

    const tables = ["artists", "albums", "tracks", "genres", "staff", "buyers", "sales", "lines"].map((table) =>
      makeScanned(makeTable(table, ["id", "title", "boss"], { primaryKey: ["id"] }), { title: ["<b>Blue</b>", "Red"] }),
    );

    test("describes eight tables in one request, which offers only the answer tool", async () => {
      const runtime = backend.play([describeAll()]);
      const run = new MemoryRun(runtime);
      const { descriptions, counts } = await describeTables(run, runtime, tables, {
        connection: "shop",
        tablesPerCall: 8,
      });
      expect(counts).toEqual({ described: 8, cached: 0, incomplete: 0, unknown: 0 });
      expect(descriptions.get(tableKey({ schema: "main", name: "staff" }))?.columns.get("boss")).toBe(
        "The boss of staff.",
      );
      const requests = backend.rehearsal.modelRequests;
      expect(requests).toHaveLength(1);
      const [request] = requests;
      expect(request!.system).toContain("You write the catalogue of a database");
      expect(request!.toolNames.length).toBeLessThanOrEqual(1);
      expect(request!.lastUserText).toContain("\\u003cb>Blue");
      expect(askedTables(request!)).toHaveLength(8);
      expect(backend.reports).toMatchObject([{ role: "candidateExtraction", operation: "object", outcome: "ok" }]);

      await describeTables(run, runtime, tables, { connection: "shop", tablesPerCall: 8 });
      expect(backend.rehearsal.modelRequests).toHaveLength(1);
    });

    test("requests omitted parts once more", async () => {
      let calls = 0;
      const runtime = backend.play([
        describeAll(({ tables }) => {
          calls += 1;
          return { tables: calls === 1 ? tables.slice(1) : tables };
        }),
      ]);
      const run = new MemoryRun(runtime);
      const { counts } = await describeTables(run, runtime, tables, { connection: "shop", tablesPerCall: 8 });
      expect(counts).toMatchObject({ described: 8, incomplete: 0 });
      expect(backend.rehearsal.modelRequests.map((request) => askedTables(request).length)).toEqual([8, 1]);
    });

    test("requests joins in one request", async () => {
      const end = (table: string, column: string) => ({ schema: "main", table, columns: [column] });
      const runtime = backend.play([
        nameJoins({ from: end("staff", "boss"), to: end("staff", "id"), confidence: 0.9, why: "A boss is staff." }),
      ]);
      const run = new MemoryRun(runtime);
      const { suggestions } = await suggestJoins(run, runtime, tables, [], "shop");
      expect(suggestions).toMatchObject([{ from: { columns: ["boss"] }, to: { columns: ["id"] } }]);
      expect(backend.rehearsal.modelRequests).toHaveLength(1);
    });

    test("a whole scan takes two requests, and a repetition none", async () => {
      await using stage = await openScanStage(
        `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, likes TEXT);
         CREATE TABLE pets (id INTEGER PRIMARY KEY, keeper INTEGER, colour TEXT);
         INSERT INTO people VALUES (1, 'Ada', 'tea'), (2, 'Grace', 'coffee'), (3, 'Edsger', 'tea');
         INSERT INTO pets VALUES (11, 1, 'red'), (12, 2, 'blue'), (13, 2, 'red');`,
        backend,
      );
      const first = await stage.scan({ script: [describeAll(), nameJoins()] });
      expect(first).toMatchObject({ state: "done", requests: 2, skipped: [] });
      expect((await stage.file("pets"))?.descriptions?.ai).toBe("Rows of pets.");
      const again = await stage.scan({ script: [] });
      expect(again).toMatchObject({ state: "done", requests: 0, result: { proposals: [] } });
    });
  });
}
