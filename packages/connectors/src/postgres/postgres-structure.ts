import { z } from "zod";
import { assembleTables, toCheck, toForeignKey } from "../assemble-tables.ts";
import { columnKind } from "../column-kind.ts";
import type { Table } from "../connection.ts";

type Ask = (sql: string, values: unknown[]) => Promise<(string | null)[][]>;

/**
 * Uses `pg_catalog`, because `information_schema` shows keys only to owners. Excludes partitions and objects of
 * extensions.
 */
export async function readStructure(ask: Ask, schemas: readonly string[] | undefined): Promise<Table[]> {
  const which = [schemas ?? null];
  const relations = await ask(`${VISIBLE} select * from visible order by 2, 3`, which);
  const columns = await ask(`${VISIBLE} ${COLUMNS}`, which);
  const keys = await ask(`${VISIBLE} ${KEYS}`, which);
  const foreignKeys = await ask(`${VISIBLE} ${FOREIGN_KEYS}`, which);
  const checks = await ask(`${VISIBLE} ${CHECKS}`, which);
  return assembleTables({
    relations: relations.map(([, schema, name, kind, comment, rows]) => ({
      schema: schema!,
      name: name!,
      isView: kind === "v" || kind === "m" || kind === "f",
      comment: comment!,
      rows: rows === null || Number(rows) < 0 ? null : Number(rows),
    })),
    columns: columns.map(([schema, table, name, type, base, isEnum, nullable, comment, labels]) => ({
      schema: schema!,
      table: table!,
      name: name!,
      type: type!,
      kind: isEnum === "t" ? "text" : columnKind(base!),
      nullable: nullable === "t",
      comment: comment!,
      labels: labels === null ? undefined : z.array(z.string()).parse(JSON.parse(labels!)),
    })),
    keys: keys.map(([schema, table, key, isPrimary, column]) => ({
      schema: schema!,
      table: table!,
      key: key!,
      isPrimary: isPrimary === "t",
      column: column!,
    })),
    foreignKeys: foreignKeys.map(toForeignKey),
    checks: checks.map(toCheck),
  });
}

const VISIBLE = `
  with visible as materialized (
    select c.oid, n.nspname::text as schema, c.relname::text as name, c.relkind,
      obj_description(c.oid, 'pg_class') as comment, c.reltuples::float8 as rows
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
      and (n.nspname = any ($1::text[])
        or $1 is null and n.nspname <> 'information_schema' and n.nspname !~ '^pg_')
      and has_schema_privilege(n.oid, 'USAGE')
      and (has_table_privilege(c.oid, 'SELECT') or has_any_column_privilege(c.oid, 'SELECT'))
      and not exists (
        select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      )
  )`;

const COLUMNS = `
  select v.schema, v.name, a.attname, format_type(a.atttypid, a.atttypmod),
    format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null), coalesce(b.typtype, t.typtype) = 'e',
    not (a.attnotnull or t.typnotnull), col_description(v.oid, a.attnum),
    (select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_enum e
      where e.enumtypid in (t.oid, t.typbasetype, t.typelem))
  from visible v
  join pg_attribute a on a.attrelid = v.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_type b on b.oid = t.typbasetype
  order by v.oid, a.attnum`;

// The unique key of a table does not cover the rows of tables that inherit from it. That of a partitioned table does.
const KEYS = `
  select v.schema, v.name, i.indexrelid::text, i.indisprimary, a.attname
  from visible v
  join pg_index i on i.indrelid = v.oid and i.indisunique and i.indisvalid
    and i.indpred is null and i.indexprs is null
  cross join lateral unnest(i.indkey) with ordinality as part (attnum, position)
  join pg_attribute a on a.attrelid = v.oid and a.attnum = part.attnum
  where part.position <= i.indnkeyatts
    and not exists (
      select from pg_inherits h join pg_class p on p.oid = h.inhparent where p.oid = v.oid and p.relkind = 'r'
    )
  order by v.oid, i.indexrelid, part.position`;

const FOREIGN_KEYS = `
  select v.schema, v.name, k.oid::text, a.attname, n.nspname, c.relname, b.attname
  from visible v
  join pg_constraint k on k.conrelid = v.oid and k.contype = 'f'
  join pg_class c on c.oid = k.confrelid
  join pg_namespace n on n.oid = c.relnamespace
  cross join lateral unnest(k.conkey, k.confkey) with ordinality as part (attnum, toattnum, position)
  join pg_attribute a on a.attrelid = k.conrelid and a.attnum = part.attnum
  join pg_attribute b on b.attrelid = k.confrelid and b.attnum = part.toattnum
  order by v.oid, k.oid, part.position`;

/** Those of a domain are about its columns. A constraint that is not validated may be violated by old rows. */
const CHECKS = `
  select v.schema, v.name, pg_get_expr(k.conbin, k.conrelid)
  from visible v join pg_constraint k on k.conrelid = v.oid and k.contype = 'c' and k.convalidated
  union all
  select v.schema, v.name, regexp_replace(pg_get_expr(k.conbin, 0), '\\mVALUE\\M', quote_ident(a.attname), 'g')
  from visible v
  join pg_attribute a on a.attrelid = v.oid and a.attnum > 0 and not a.attisdropped
  join pg_constraint k on k.contypid = a.atttypid and k.contype = 'c' and k.convalidated
  where v.relkind <> 'v'
  order by 1, 2, 3`;
