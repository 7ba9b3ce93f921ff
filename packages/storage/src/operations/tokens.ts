import { operation } from "../operation.ts";
import { all, insert, one, sql, type Work } from "../sql-statement.ts";

export interface StoredToken {
  id: string;
  name: string;
  sha256: string;
  scopes: string;
  created_at: number;
  last_used_at: number | null;
  tenant: string;
}

export const createToken = operation("tokens.create", function* (row: StoredToken): Work<void> {
  yield insert("token", [{ ...row }]);
});

export const findToken = operation("tokens.findByHash", function* (sha256: string): Work<StoredToken | undefined> {
  return yield* one(sql<StoredToken>`select * from token where sha256 = ${sha256}`);
});

export const listTokens = operation("tokens.list", function* (tenant: string | undefined): Work<StoredToken[]> {
  const wanted = tenant === undefined ? sql`` : sql`where tenant = ${tenant}`;
  return yield* all(sql<StoredToken>`select * from token ${wanted} order by created_at, id`);
});

export const deleteToken = operation("tokens.delete", function* (id: string): Work<boolean> {
  return (yield* one(sql`delete from token where id = ${id} returning id`)) !== undefined;
});

export const touchToken = operation("tokens.touch", function* (args: { id: string; at: number }): Work<void> {
  yield sql`update token set last_used_at = ${args.at} where id = ${args.id}`;
});
