import { expect, test } from "vitest";
import { openConnection } from "@tandem/connectors";
import { profileTables } from "@tandem/relationships";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";

const COLUMNS = [
  "stage mood",
  "stages mood[]",
  "level positive",
  "address place",
  "small smallint, whole integer, big bigint, price numeric(9,2), money money, ratio real, exact double precision",
  'fixed char(3), short varchar(9), words text, ignorecase name, label "char"',
  "bytes bytea, bits bit(3), varbits varbit",
  "flag boolean, id uuid, doc json, docb jsonb, page xml",
  "day date, clock time, clocktz timetz, at timestamp, attz timestamptz, span interval",
  "host inet, net cidr, mac macaddr, mac8 macaddr8",
  "spot point, path path, shape polygon, ring circle, edge box, seg lseg, line line",
  "numbers int4range, times tstzrange, many int4multirange",
  "search tsvector, query tsquery, oid oid, lsn pg_lsn, snapshot pg_snapshot, tags text[], grid int[][]",
];

test.skipIf(whyNoPostgres())(
  "a table with columns of every Postgres type is profiled, enums with their labels",
  async () => {
    await using postgres = await startPostgres();
    const url = await postgres.createDatabase(`
    create type mood as enum ('open', 'won');
    create domain positive as integer check (value > 0);
    create type place as (street text, city text);
    create table everything (${COLUMNS.join(", ")});
    insert into everything (stage, level, words, stages, flag, day, host, tags, span, numbers, price, spot)
    select (case when n % 3 = 0 then 'open' else 'won' end)::mood, n, 'w' || n, '{open,won}', n % 2 = 0,
      date '2024-01-01' + n % 3, '10.0.0.1', array['a', 'b'], '1 day', '[1,4)', 1.50, '(1,2)'
    from generate_series(1, 30) n;
  `);
    await using connection = await openConnection({ driver: "postgres", url });
    const { profiles, failures } = await profileTables(connection, await connection.structure(), {
      isForCatalogue: true,
    });
    expect(failures).toEqual([]);
    const [everything] = profiles;
    expect(everything).toMatchObject({ rows: 30, rowsAreExact: true, unreadable: [] });
    expect(everything!.columns.find(({ name }) => name === "stage")).toMatchObject({
      distinct: 2,
      samples: ["won", "open"],
      lengths: [3, 4],
      domain: { values: ["won", "open"], of: "all" },
    });
    const domainOf = (name: string) => everything!.columns.find((column) => column.name === name)?.domain?.values;
    expect(domainOf("stages")).toEqual(["{open,won}"]);
    expect(domainOf("flag")?.toSorted()).toEqual([false, true]);
    expect(domainOf("day")?.toSorted()).toEqual(["2024-01-01", "2024-01-02", "2024-01-03"]);
    expect(["host", "tags", "span", "numbers", "price", "spot"].map((name) => domainOf(name)?.length)).toEqual(
      Array(6).fill(1),
    );
    expect(everything!.verifiedKeys).toEqual([
      { columns: ["level"], of: "all" },
      { columns: ["words"], of: "all" },
    ]);
  },
);
