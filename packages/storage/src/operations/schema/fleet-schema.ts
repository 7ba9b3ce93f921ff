import { DEFAULT_TENANT } from "../../tenant-store.ts";
import type { Dialect } from "./dialect.ts";

/** Tables shared by the processes of a fleet, and indexes that find waiting work without a full scan. */
export function fleetSchema(dialect: Dialect): string[] {
  const { name, id, int, isShared } = dialect;
  return [
    // Whether code of the previous version can work with this one.
    `alter table schema_version add column compatible ${int} not null default 0`,
    ...(isShared ? shared(dialect) : ["drop table token"]),

    `alter table session add column place ${id}`,
    // Matches the text that `JSON.stringify` writes. Inside a JSON string the quotes would be escaped, so this cannot
    // match.
    `alter table session add column waiting ${int} not null default 0`,
    `update session set waiting = 1 where state like '%"waitingFor":[{%'`,
    "create index session_waiting on session (created_at, id) where waiting > 0",
    // In the sort order of lists.
    "drop index session_unfinished",
    "create index session_unfinished on session (created_at, id) where status in ('running', 'rescheduling')",
    // Leaves out `lease_until`, which changes all the time: appends and renewals then update no index.
    "create index log_held on log (lease_holder) where lease_holder is not null",
    ...(name === "postgres" ? [RING_WITH_SCHEMA, RING_ENDED_WITH_SCHEMA] : []),
  ];
}

const shared = ({ id, int, strict }: Dialect): string[] => [
  `alter table token add column tenant ${id} not null default '${DEFAULT_TENANT}'`,
  "create index token_tenant on token (tenant)",
  // `schema` is the version of the tenant's own tables.
  `create table tenant (
    id ${id} primary key,
    name text not null,
    created_at ${int} not null,
    archived_at ${int},
    limits text not null,
    settings text not null,
    schema ${int} not null
  ) ${strict}`,
  `insert into tenant (id, name, created_at, limits, settings, schema)
    values ('${DEFAULT_TENANT}', '${DEFAULT_TENANT}', ${Date.now()}, '{}', '{}', 0)`,
  `create table worker (
    id ${id} primary key,
    holder ${id} not null unique,
    schema ${int} not null,
    started_at ${int} not null,
    seen_at ${int} not null,
    body text not null
  ) ${strict}`,
];

/** The earlier payload, plus the schema: session ids may be equal in different tenants. */
const RING_WITH_SCHEMA = `create or replace function ring() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' then
      perform pg_notify('tandem', 'gone ' || old.session || ' 0 ' || tg_table_schema);
      return null;
    end if;
    if tg_op = 'INSERT' or new.seq > old.seq then
      perform pg_notify('tandem', 'log ' || new.session || ' ' || new.seq || ' ' || tg_table_schema);
    end if;
    if new.inbox_seq > 0 and (tg_op = 'INSERT' or new.inbox_seq > old.inbox_seq) then
      perform pg_notify('tandem', 'inbox ' || new.session || ' ' || new.inbox_seq || ' ' || tg_table_schema);
    end if;
    return null;
  end $$`;

const RING_ENDED_WITH_SCHEMA = `create or replace function ring_ended() returns trigger language plpgsql as $$
  begin
    perform pg_notify('tandem', 'ended ' || new.id || ' 0 ' || tg_table_schema);
    return null;
  end $$`;
