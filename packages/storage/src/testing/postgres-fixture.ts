import { Client } from "pg";
import type { StoreFixture } from "../contract/stage.ts";
import type { TestPostgres } from "./postgres.ts";

export function postgresFixture(postgres: TestPostgres): StoreFixture {
  const query = async (url: string, text: string): Promise<unknown[]> => {
    const client = new Client({ connectionString: url, options: "-c search_path=tandem" });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    name: "postgres",
    location: () => postgres.createDatabase(),
    dump: async (url) => {
      const tables = await query(
        url,
        `select table_schema as schema, table_name as name from information_schema.tables
          where table_schema like 'tandem%' order by 1, 2`,
      );
      const rows = (tables as { schema: string; name: string }[]).map(({ schema, name }) =>
        query(url, `select * from "${schema}"."${name}"`),
      );
      return JSON.stringify(await Promise.all(rows));
    },
    execute: async (url, text) => void (await query(url, text)),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}
