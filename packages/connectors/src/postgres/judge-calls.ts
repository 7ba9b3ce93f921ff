import { refused } from "../reader/failure.ts";
import type { Calls } from "./postgres-guard.ts";

/** Volatile in the catalogue, but without side effects. */
const HARMLESS = (
  "clock_timestamp gen_random_uuid random random_normal timeofday uuidv4 uuidv7 " +
  "pg_database_size pg_indexes_size pg_relation_size pg_table_size pg_total_relation_size"
).split(" ");

/**
 * Not volatile in the catalogue, but rejected: they run text as a query (`crosstab`, `…_to_xml`), allocate a
 * transaction id, or read outside of the database.
 */
const HARMFUL =
  "^(crosstab.*|connectby|xpath_table|(query|table|cursor|schema|database)_to_xml.*|txid_current|pg_current_xact_id" +
  "|dblink.*|lo_.*|pg_(read|ls|stat_file|sleep|advisory|try_advisory|terminate|cancel|reload|rotate|switch|promote).*)$";

/** Languages that cannot leave the database, or that an administrator has installed. */
const LANGUAGES = ["internal", "c", "sql", "plpgsql"];

type Ask = (sql: string, values: unknown[]) => Promise<(string | null)[][]>;

/**
 * The catalogue marks functions with side effects as `volatile`. If any overload of a name is volatile, the name is
 * rejected. `pg_catalog` is first in the search path, so that its functions cannot be shadowed.
 */
export async function judgeCalls(calls: Calls, ask: Ask): Promise<void> {
  if (calls.functions.length + calls.attributes.length + calls.operators.length === 0) return;
  const found = await ask(JUDGE, [
    calls.functions.map((name) => name.at(-1)),
    calls.functions.map((name) => name.at(-2) ?? null),
    calls.attributes,
    calls.operators,
    HARMLESS,
    LANGUAGES,
    HARMFUL,
  ]);
  if (found.length > 0) throw refused(`the ${found[0]![0]} ${found[0]![1]} may have effects`);
}

const JUDGE = `
  with called as (
    select * from unnest($1::text[], $2::text[]) as called (name, schema)
  ), suspect as (
    select p.oid, p.proname, n.nspname, p.pronargs, p.proargtypes,
      (p.proname ~ $7)
      or (p.provolatile = 'v' and not (n.nspname = 'pg_catalog' and p.proname = any ($5)))
      or l.lanname <> all ($6)
      or exists (
        select from pg_catalog.pg_aggregate a
        join pg_catalog.pg_proc part on part.oid in (a.aggtransfn, a.aggfinalfn, a.aggmtransfn)
        where a.aggfnoid = p.oid and part.provolatile = 'v'
      ) as has_effects
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
    where p.proname in (select name from called) or p.proname = any ($3)
      or p.oid in (select o.oprcode from pg_catalog.pg_operator o where o.oprname = any ($4))
  )
  select 'function', s.proname::text from suspect s join called c on c.name = s.proname
  where s.has_effects and (c.schema = s.nspname or c.schema is null and s.nspname = any (current_schemas(true)))
  union all
  select 'function', s.proname::text from suspect s
  join pg_catalog.pg_type t on t.oid = s.proargtypes[0]
  where s.has_effects and s.proname = any ($3) and s.pronargs = 1 and t.typtype in ('c', 'p')
  union all
  select 'operator', o.oprname::text from suspect s
  join pg_catalog.pg_operator o on o.oprcode = s.oid
  where s.has_effects and s.nspname <> 'pg_catalog' and o.oprname = any ($4)
  limit 1`;
