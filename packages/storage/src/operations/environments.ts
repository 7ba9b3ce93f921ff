import { operation } from "../operation.ts";
import { refuse } from "../refusal.ts";
import { assign, insert, one, sql, type Work } from "../sql-statement.ts";
import { announce, type AnnouncementRow } from "./announcements.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";

export interface EnvironmentRow {
  id: string;
  created_at: number;
  archived_at: number | null;
  body: string;
}

interface WriteArgs {
  row: EnvironmentRow;
  announce: readonly AnnouncementRow[];
}

export const createEnvironment = operation("environments.create", function* (args: WriteArgs): Work<void> {
  yield insert("environment", [{ ...args.row }]);
  yield* announce(args.announce);
});

export const updateEnvironment = operation("environments.update", function* (args: WriteArgs): Work<void> {
  const { id, archived_at, body } = args.row;
  const found = yield* one(sql`update environment set ${assign({ archived_at, body })} where id = ${id} returning id`);
  if (!found) throw refuse("not_found", `There is no environment ${id}.`);
  yield* announce(args.announce);
});

export const deleteEnvironment = operation(
  "environments.delete",
  function* (args: { id: string; announce: readonly AnnouncementRow[] }): Work<void> {
    const { id } = args;
    const used = yield* one(sql<{ id: string }>`
    select id from session where environment_id = ${id} and archived_at is null limit 1`);
    if (used) {
      throw refuse(
        "conflict",
        `The environment ${id} is in use by the session ${used.id}.`,
        "Archive or delete the sessions that use it first.",
      );
    }
    const row = yield* one(sql`delete from environment where id = ${id} returning id`);
    if (row) yield* announce(args.announce);
  },
);

const SELECT = sql<EnvironmentRow>`id, created_at, archived_at, body from environment`;

export const getEnvironment = operation("environments.get", function* (id: string): Work<EnvironmentRow | undefined> {
  return yield* one(sql<EnvironmentRow>`select ${SELECT} where id = ${id}`);
});

export const listEnvironments = operation(
  "environments.list",
  function* (args: { page: PageArgs; includeArchived?: boolean; created?: Span }) {
    return yield* readPage<EnvironmentRow>(args.page, {
      select: SELECT,
      at: "created_at",
      id: "id",
      conditions: [...(args.includeArchived ? [] : [sql`archived_at is null`]), ...within("created_at", args.created)],
    });
  },
);
