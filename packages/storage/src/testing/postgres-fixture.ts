import { Client } from "pg";
import type { StoreFixture } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";
import type { TestPostgres } from "./postgres.ts";

type Query = (text: string) => Promise<Record<string, unknown>[]>;

export function postgresFixture(postgres: TestPostgres): StoreFixture {
  const connected = async <T>(url: string, body: (query: Query) => Promise<T>): Promise<T> => {
    const client = new Client({ connectionString: url, options: "-c search_path=tandem" });
    await client.connect();
    try {
      return await body(async (text) => (await client.query<Record<string, unknown>>(text)).rows);
    } finally {
      await client.end();
    }
  };
  return {
    name: "postgres",
    location: () => postgres.createDatabase(),
    open: (url) => openStore(url),
    dump: (url) =>
      connected(url, async (query) => {
        const tables = await query(
          `select table_schema as schema, table_name as name from information_schema.tables
            where table_schema like 'tandem%' order by 1, 2`,
        );
        const all: unknown[] = [];
        for (const { schema, name } of tables)
          all.push(await query(`select * from "${String(schema)}"."${String(name)}"`));
        return JSON.stringify(all);
      }),
    execute: (url, text) => connected(url, async (query) => void (await query(text))),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}
