import { auditSchema } from "./audit-schema.ts";
import type { Dialect } from "./dialect.ts";
import { fleetSchema } from "./fleet-schema.ts";
import { searchSchema } from "./search-schema.ts";
import { spendingSchema } from "./spending-schema.ts";

export interface Migration {
  /** Whether code of the previous version works with it too; see CONTRIBUTING.md. */
  compatible: boolean;
  statements: (dialect: Dialect) => string[];
}

export const SQLITE: Dialect = {
  name: "sqlite",
  id: "text",
  int: "integer",
  bytes: "blob",
  number: "integer primary key",
  strict: "strict",
  isShared: true,
};

export const POSTGRES: Dialect = {
  name: "postgres",
  id: 'text collate "C"',
  int: "bigint",
  bytes: "bytea",
  number: "bigint generated always as identity primary key",
  strict: "",
  isShared: true,
};

/**
 * Separate schemas let Tandem share a database with other software. A tenant's schema is this name, `_t_` and the
 * tenant's id.
 */
export const POSTGRES_SCHEMA = "tandem";
export const schemaOf = (tenant: string): string => `${POSTGRES_SCHEMA}_t_${tenant}`;
/**
 * Payloads: `log SESSION SEQ SCHEMA`, `inbox SESSION POSITION SCHEMA`, `gone SESSION 0 SCHEMA` or `ended JOB 0 SCHEMA`,
 * one per changed row.
 */
export const POSTGRES_CHANNEL = "tandem";

/** JSON is stored as text, because `jsonb` rejects `\u0000`. */
const STATEMENTS: readonly Migration["statements"][] = [
  ({ name, id, int, bytes, number, strict }) => [
    // One narrow row per session for the counters and the lease, because they change with every append.
    `create table log (
      number ${number},
      session ${id} not null unique,
      seq ${int} not null,
      inbox_seq ${int} not null,
      lease_token ${int} not null,
      lease_holder text,
      lease_until ${int}
    ) ${strict}`,
    `create table event (
      log ${int} not null,
      seq ${int} not null,
      id ${id} not null,
      thread text,
      type text not null,
      at ${int},
      shown ${int} not null,
      body text not null,
      primary key (log, seq)
    ) ${strict}`,
    "create unique index event_id on event (log, id)",

    `create table inbox (
      session ${id} not null,
      position ${int} not null,
      id ${id} not null,
      body text not null,
      put_at ${int} not null,
      primary key (session, position)
    ) ${strict}`,
    "create unique index inbox_id on inbox (session, id)",

    `create table session (
      id ${id} primary key,
      status text not null,
      agent_id ${id} not null,
      agent_version ${int} not null,
      environment_id ${id} not null,
      cents ${int} not null,
      created_at ${int} not null,
      updated_at ${int} not null,
      archived_at ${int},
      state text not null
    ) ${strict}`,
    "create index session_created on session (created_at, id)",
    "create index session_agent on session (agent_id, created_at)",
    "create index session_environment on session (environment_id)",
    "create index session_updated on session (updated_at)",
    "create index session_unfinished on session (status) where status in ('running', 'rescheduling')",

    `create table thread (
      session ${id} not null,
      id ${id} not null,
      parent text,
      status text not null,
      usage text,
      created_at ${int} not null,
      updated_at ${int} not null,
      archived_at ${int},
      primary key (session, id)
    ) ${strict}`,
    // Separate from the session's row, which changes every turn: an agent is large and stable. Thread '' is the
    // session's own agent.
    `create table agent_snapshot (
      session ${id} not null,
      thread ${id} not null,
      body text not null,
      primary key (session, thread)
    ) ${strict}`,

    `create table transcript (
      log ${int} not null,
      subpath ${id} not null,
      position ${int} not null,
      uuid text,
      body text not null,
      primary key (log, subpath, position)
    ) ${strict}`,
    "create unique index transcript_uuid on transcript (log, subpath, uuid) where uuid is not null",

    `create table agent (
      id ${id} primary key,
      version ${int} not null,
      created_at ${int} not null,
      archived_at ${int}
    ) ${strict}`,
    "create index agent_created on agent (created_at, id)",
    `create table agent_version (
      agent ${id} not null,
      version ${int} not null,
      updated_at ${int} not null,
      body text not null,
      primary key (agent, version)
    ) ${strict}`,

    `create table environment (
      id ${id} primary key,
      created_at ${int} not null,
      archived_at ${int},
      body text not null
    ) ${strict}`,
    "create index environment_created on environment (created_at, id)",

    `create table file (
      id ${id} primary key,
      created_at ${int} not null,
      scope text,
      body text not null
    ) ${strict}`,
    "create index file_created on file (created_at, id)",
    "create index file_scope on file (scope) where scope is not null",
    `create table file_part (
      file ${id} not null,
      part ${int} not null,
      bytes ${bytes} not null,
      primary key (file, part)
    ) ${strict}`,

    `create table token (
      id ${id} primary key,
      name text not null,
      sha256 text not null unique,
      scopes text not null,
      created_at ${int} not null,
      last_used_at ${int}
    ) ${strict}`,

    ...(name === "postgres" ? POSTGRES_NOTIFY_TRIGGERS : []),
  ],

  ({ name, id, int, bytes, number, strict }) => [
    // Writers of a space's records lock this row first, so that they are serialised.
    `create table space (
      id ${id} primary key,
      writes ${int} not null
    ) ${strict}`,
    `create table record (
      space ${id} not null,
      kind ${id} not null,
      key ${id} not null,
      version ${int} not null,
      updated_at ${int} not null,
      value text not null,
      primary key (space, kind, key)
    ) ${strict}`,

    `create table blob (
      number ${number},
      space ${id} not null,
      sha256 ${id} not null,
      size ${int} not null
    ) ${strict}`,
    "create unique index blob_content on blob (space, sha256)",
    `create table blob_part (
      blob ${int} not null,
      part ${int} not null,
      bytes ${bytes} not null,
      primary key (blob, part)
    ) ${strict}`,

    // A job's events and lease are in the log tables, under its id.
    `create table job (
      id ${id} primary key,
      space ${id} not null,
      kind ${id} not null,
      state text not null,
      cancel_requested ${int} not null,
      created_at ${int} not null,
      started_at ${int},
      ended_at ${int},
      params text,
      progress text,
      result text,
      error text
    ) ${strict}`,
    "create index job_created on job (created_at, id)",
    "create index job_space on job (space, created_at, id)",
    "create index job_unfinished on job (created_at, id) where state in ('queued', 'running')",

    ...(name === "postgres" ? POSTGRES_JOB_NOTIFY_TRIGGERS : []),
  ],

  searchSchema,

  auditSchema,

  spendingSchema,
];

/** In order. Never change a released migration. */
export const MIGRATIONS: readonly Migration[] = [
  // Older than the `compatible` flag.
  ...STATEMENTS.map((statements) => ({ compatible: false, statements })),
  { compatible: false, statements: fleetSchema },
  {
    compatible: true,
    // Tokens in the page's cookies of 0.1.0. Every server on another port of the host could read them, so they must
    // not be valid as tokens any more. The prefix lets the page still tell that its cookie is of this server.
    statements: ({ isShared }) =>
      isShared ? [`update token set sha256 = 'cookie:' || sha256 where name = 'page' and scopes = '["admin"]'`] : [],
  },
  {
    compatible: true,
    statements: ({ id }) => [
      `alter table session add column deployment_id ${id}`,
      "create index session_deployment on session (deployment_id, created_at, id) where deployment_id is not null",
    ],
  },
  { compatible: true, statements: ({ id }) => [`alter table thread add column workflow_run_id ${id}`] },
];

/**
 * Triggers send the notification in the writing transaction: no writer can forget it, and it never arrives before the
 * commit.
 */
const POSTGRES_NOTIFY_TRIGGERS = [
  "create function now_ms() returns bigint language sql as $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$",
  `create function ring() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' then
      perform pg_notify('${POSTGRES_CHANNEL}', 'gone ' || old.session);
      return null;
    end if;
    if tg_op = 'INSERT' or new.seq > old.seq then
      perform pg_notify('${POSTGRES_CHANNEL}', 'log ' || new.session || ' ' || new.seq);
    end if;
    if new.inbox_seq > 0 and (tg_op = 'INSERT' or new.inbox_seq > old.inbox_seq) then
      perform pg_notify('${POSTGRES_CHANNEL}', 'inbox ' || new.session || ' ' || new.inbox_seq);
    end if;
    return null;
  end $$`,
  "create trigger ring after insert or delete or update of seq, inbox_seq on log for each row execute function ring()",
];

/** Also notifies the end of a job that adds no event. */
const POSTGRES_JOB_NOTIFY_TRIGGERS = [
  `create function ring_ended() returns trigger language plpgsql as $$
  begin
    perform pg_notify('${POSTGRES_CHANNEL}', 'ended ' || new.id);
    return null;
  end $$`,
  `create trigger ring_ended after update of state on job for each row
  when (old.state in ('queued', 'running') and new.state not in ('queued', 'running')) execute function ring_ended()`,
];

/** The newest version that this code knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;
