import { DEFAULT_TENANT } from "../tenant-store.ts";

/** What processes on many machines share, and what makes it cheap to find what waits for them, however much there is. */
export function fleetSchema({
  name,
  id,
  int,
  strict,
  isShared,
}: {
  name: "sqlite" | "postgres";
  id: string;
  int: string;
  strict: string;
  isShared: boolean;
}): string[] {
  return [
    // Whether code that knows the version before can work with this one.
    `alter table schema_version add column compatible ${int} not null default 0`,
    ...(isShared ? shared({ id, int, strict }) : ["drop table token"]),

    `alter table session add column place ${id}`,
    // As `JSON.stringify` writes it: within a text, the quotation marks would be escaped.
    `alter table session add column waiting ${int} not null default 0`,
    `update session set waiting = 1 where state like '%"waitingFor":[{%'`,
    "create index session_waiting on session (created_at, id) where waiting > 0",
    // In the order of lists.
    "drop index session_unfinished",
    "create index session_unfinished on session (created_at, id) where status in ('running', 'rescheduling')",
    // Not with the time, which changes all the while: an append or a renewal then writes no index.
    "create index log_held on log (lease_holder) where lease_holder is not null",
    ...(name === "postgres" ? [RING_WITH_SCHEMA, RING_ENDED_WITH_SCHEMA] : []),
  ];
}

const shared = ({ id, int, strict }: { id: string; int: string; strict: string }): string[] => [
  `alter table token add column tenant ${id} not null default '${DEFAULT_TENANT}'`,
  "create index token_tenant on token (tenant)",
  // `schema` is up to where its own tables are.
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

/** The same words as before, and behind them whose tables they are about: ids need not differ between tenants. */
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
