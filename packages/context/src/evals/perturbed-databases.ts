import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, type DatabaseLocation, type RowReference, type Table } from "@tandem/connectors";
import { RequestError } from "@tandem/protocol";
import type { CatalogueReader } from "../catalogue/catalogue-reader.ts";
import type { EvalFile } from "../formats/eval-file.ts";

/** Copies of databases with other rows, until disposed. */
export class PerturbedDatabases implements AsyncDisposable {
  readonly #locate: (name: string) => Promise<DatabaseLocation>;
  readonly #catalogue: CatalogueReader;
  readonly #owned = new AsyncDisposableStack();

  constructor(locate: (name: string) => Promise<DatabaseLocation>, catalogue: CatalogueReader) {
    this.#locate = locate;
    this.#catalogue = catalogue;
  }

  /** Undefined for a database on a server: it cannot be copied. */
  async open(
    name: string,
    original: Connection,
    changes: EvalFile["perturb"],
    signal: AbortSignal,
  ): Promise<Connection | undefined> {
    const location = await this.#locate(name);
    if (location.driver !== "sqlite" && location.driver !== "duckdb") return undefined;
    const { copyPerturbed, openConnection } = await import("@tandem/connectors");
    const tables = await original.structure({ signal });
    const folder = await mkdtemp(join(tmpdir(), "tandem-evals-"));
    this.#owned.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const target = join(folder, "copy.db");
    await copyPerturbed({
      location,
      target,
      changes: changes.map(({ table, every, change }) => ({ table: find(tables, table), every, change })),
      references: [...declared(tables), ...(await this.#accepted(name, tables))],
    });
    return this.#owned.use(await openConnection({ ...location, path: target }));
  }

  /** Many references are only known to the catalogue. */
  async #accepted(name: string, tables: readonly Table[]): Promise<RowReference[]> {
    const outlines = await this.#catalogue.outlines(name);
    return outlines.flatMap(({ schema, table, joins = [] }) =>
      joins.flatMap(({ columns, to, toColumns, when }) => {
        const target = tables.find((each) => `${each.schema}.${each.name}` === to);
        return target && when === undefined ? [{ from: { schema, name: table }, columns, to: target, toColumns }] : [];
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

const declared = (tables: readonly Table[]): RowReference[] =>
  tables.flatMap(({ schema, name, foreignKeys }) =>
    foreignKeys.map(({ columns, to, toColumns }) => ({ from: { schema, name }, columns, to, toColumns })),
  );

function find(tables: readonly Table[], wanted: string): Table {
  const name = wanted.toLowerCase();
  const found = tables.find((table) =>
    [table.name, `${table.schema}.${table.name}`].some((each) => each.toLowerCase() === name),
  );
  if (found) return found;
  throw new RequestError("not_found", `perturb names the table ${wanted}, which the database does not have.`, {
    fix: `Tables: ${tables.map((table) => table.name).join(", ")}.`,
  });
}
