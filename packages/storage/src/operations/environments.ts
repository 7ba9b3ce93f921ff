import { operation } from "../operation.ts";
import { refuse } from "../refusal.ts";
import { assign, insert, one, sql, type Work } from "../sql-statement.ts";
import { readPage, within, type PageArgs, type Span } from "./read-page.ts";

export interface EnvironmentRow {
  id: string;
  created_at: number;
  archived_at: number | null;
  body: string;
}

export const createEnvironment = operation("environments.create", function* (row: EnvironmentRow): Work<void> {
  yield insert("environment", [{ ...row }]);
});

export const updateEnvironment = operation("environments.update", function* (row: EnvironmentRow): Work<void> {
  const { id, archived_at, body } = row;
  const found = yield* one(sql`update environment set ${assign({ archived_at, body })} where id = ${id} returning id`);
  if (!found) throw refuse("not_found", `There is no environment ${id}.`);
});

export const deleteEnvironment = operation("environments.delete", function* (id: string): Work<void> {
  const used = yield* one(sql<{ id: string }>`
    select id from session where environment_id = ${id} and archived_at is null limit 1`);
  if (used) {
    throw refuse(
      "conflict",
      `The environment ${id} is in use by the session ${used.id}.`,
      "Archive or delete the sessions that use it first.",
    );
  }
  yield sql`delete from environment where id = ${id}`;
});

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
