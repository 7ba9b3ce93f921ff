import type { Connection } from "@tandem/connectors";
import { always, refusal, when } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { sharedStore } from "../testing/shared-store.ts";
import { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { RehearsedBackend } from "./testing/rehearsed-backend.ts";
import { describeAll, isAboutJoins, nameJoins } from "./testing/scan-answers.ts";
import { openScanStage } from "./testing/scan-stage.ts";
import { SHOP_SQL } from "./testing/shop-sql.ts";
import { withMethods } from "./testing/with-methods.ts";
import { sharedBackend } from "./testing/shared-backend.ts";

const backend = await sharedBackend();
const store = sharedStore();
const openStage = (model?: RehearsedBackend) => openScanStage(SHOP_SQL, model, undefined, store());

describe("during a scan", () => {
  test("a vanished table is skipped and listed, and the rest completes", async () => {
    await using stage = await openStage(backend);
    const vanishing = (connection: Connection) =>
      withMethods(connection, {
        structure: async (options) => {
          const tables = await connection.structure(options);
          stage.database.exec("DROP TABLE staff");
          return tables;
        },
      });
    const { state, skipped, result } = await stage.scan({
      script: [describeAll(), nameJoins()],
      connection: vanishing,
    });
    expect(state).toBe("partly");
    expect(skipped).toEqual([{ stage: "profile", item: "main.staff", code: "not_there" }]);
    expect(result.tables).toMatchObject({ seen: 3, added: 3 });
    expect(await stage.file("orders")).toBeDefined();
    expect(await stage.file("staff")).toBeUndefined();
  });

  test("tables that differ only in case have two files on every disk", async () => {
    await using stage = await openStage();
    // SQLite cannot have both, so another database is simulated.
    const both = (names: readonly string[]) => (connection: Connection) =>
      withMethods(connection, {
        structure: async (options) =>
          (await connection.structure(options)).flatMap((table) =>
            table.name === "staff" ? names.map((name) => ({ ...table, name })) : [],
          ),
      });
    await stage.scan({ connection: both(["Staff"]) });
    const { state } = await stage.scan({ connection: both(["STAFF", "Staff", "staff"]) });
    expect(state).toBe("done");
    const paths = await stage.context.folder.list("catalogue/");
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(3);
    expect(paths).toContain(stage.path("Staff"));
    const again = await stage.scan({ connection: both(["staff", "STAFF", "Staff"]) });
    expect(again.result.proposals).toEqual([]);
    const catalogue = new CatalogueReader(stage.context.folder);
    for (const table of ["STAFF", "Staff", "staff"]) {
      expect(await catalogue.find(`main.${table}`)).toMatchObject({ table });
      expect(await catalogue.read({ connection: "shop", schema: "main", table })).toMatchObject({ table });
    }
    await stage.scan({ connection: both(["Staff", "staff"]) });
    expect((await catalogue.tables("shop")).map(({ table }) => table).toSorted()).toEqual(["Staff", "staff"]);
  });

  test("an interrupted job is resumed by the next scan, which pays for nothing twice", async () => {
    await using stage = await openStage(backend);
    const controller = new AbortController();
    const interrupted = stage.scan({
      script: [
        describeAll(),
        always(
          when(isAboutJoins, () => {
            controller.abort();
            return refusal("Too late.");
          }),
        ),
      ],
      signal: controller.signal,
    });
    await expect(interrupted).rejects.toMatchObject({ code: "aborted", fix: expect.stringContaining("again") });
    const resumed = await stage.scan({ script: [nameJoins()] });
    expect(resumed).toMatchObject({
      state: "done",
      requests: 1,
      result: { descriptions: { described: 0, cached: 4 } },
    });
    expect(resumed.events.filter(({ type }) => type === "started")).toMatchObject([
      { resumed: false },
      { resumed: true },
    ]);
  });
});
