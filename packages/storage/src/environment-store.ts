import { RequestError, type Environment } from "@tandem/protocol";
import type { Database } from "./database.ts";
import { operation } from "./operation.ts";
import { pageArgs, readPage, toPage, within, type PageArgs } from "./page.ts";
import { assign, insert, one, sql, type Work } from "./sql.ts";
import type { EnvironmentStore, PageQuery } from "./store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "./time.ts";

interface EnvironmentRow {
  id: string;
  created_at: number;
  archived_at: number | null;
  body: string;
}

function encode({ created_at, archived_at, ...body }: Environment): EnvironmentRow {
  return {
    id: body.id,
    created_at: toMs(created_at),
    archived_at: toMsOrNull(archived_at),
    body: JSON.stringify(body),
  };
}

const decode = ({ body, created_at, archived_at }: EnvironmentRow): Environment => ({
  ...(JSON.parse(body) as Omit<Environment, "created_at" | "archived_at">),
  created_at: toIso(created_at),
  archived_at: toIsoOrNull(archived_at),
});

const create = operation("environments.create", function* (row: EnvironmentRow): Work<void> {
  yield insert("environment", [{ ...row }]);
});

const update = operation("environments.update", function* ({ id, archived_at, body }: EnvironmentRow): Work<void> {
  const row = yield* one(sql`update environment set ${assign({ archived_at, body })} where id = ${id} returning id`);
  if (!row) throw new RequestError("not_found", `There is no environment ${id}.`);
});

const remove = operation("environments.delete", function* (id: string): Work<void> {
  const used = yield* one(sql<{ id: string }>`
    select id from session where environment_id = ${id} and archived_at is null limit 1`);
  if (used) {
    throw new RequestError("conflict", `The environment ${id} is in use by the session ${used.id}.`, {
      fix: "Archive or delete the sessions that use it first.",
    });
  }
  yield sql`delete from environment where id = ${id}`;
});

const SELECT = sql<EnvironmentRow>`id, created_at, archived_at, body from environment`;

const get = operation("environments.get", function* (id: string): Work<EnvironmentRow | undefined> {
  return yield* one(sql<EnvironmentRow>`select ${SELECT} where id = ${id}`);
});

type Filter = Pick<PageQuery, "includeArchived" | "created">;

const list = operation("environments.list", function* ({ page, filter }: { page: PageArgs; filter: Filter }) {
  return yield* readPage<EnvironmentRow>(page, {
    select: SELECT,
    at: "created_at",
    id: "id",
    conditions: [
      ...(filter.includeArchived ? [] : [sql`archived_at is null`]),
      ...within("created_at", filter.created),
    ],
  });
});

export function createEnvironmentStore(database: Database): EnvironmentStore {
  return {
    create: (environment) => database.write(create, encode(environment)),
    get: async (id) => {
      const row = await database.read(get, id);
      return row && decode(row);
    },
    update: (environment) => database.write(update, encode(environment)),
    delete: (id) => database.write(remove, id),
    list: async (query) => {
      const page = pageArgs("environments", query);
      const { includeArchived, created } = query;
      const found = await database.read(list, { page, filter: { includeArchived, created } });
      return toPage("environments", page, found, decode);
    },
  };
}
