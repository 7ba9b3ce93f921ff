import type { TokenId } from "@tandem/protocol";
import type { Database } from "./database.ts";
import { operation } from "./operation.ts";
import { all, insert, one, sql, type Work } from "./sql.ts";
import type { Scope, TokenRow, TokenStore } from "./store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "./time.ts";

interface StoredToken {
  id: string;
  name: string;
  sha256: string;
  scopes: string;
  created_at: number;
  last_used_at: number | null;
}

const encode = (token: TokenRow): StoredToken => ({
  id: token.id,
  name: token.name,
  sha256: token.sha256,
  scopes: JSON.stringify(token.scopes),
  created_at: toMs(token.createdAt),
  last_used_at: toMsOrNull(token.lastUsedAt),
});

const decode = (row: StoredToken): TokenRow => ({
  id: row.id as TokenId,
  name: row.name,
  sha256: row.sha256,
  scopes: JSON.parse(row.scopes) as Scope[],
  createdAt: toIso(row.created_at),
  lastUsedAt: toIsoOrNull(row.last_used_at),
});

const create = operation("tokens.create", function* (row: StoredToken): Work<void> {
  yield insert("token", [{ ...row }]);
});

const findByHash = operation("tokens.findByHash", function* (sha256: string): Work<StoredToken | undefined> {
  return yield* one(sql<StoredToken>`select * from token where sha256 = ${sha256}`);
});

const list = operation("tokens.list", function* (): Work<StoredToken[]> {
  return yield* all(sql<StoredToken>`select * from token order by created_at, id`);
});

const remove = operation("tokens.delete", function* (id: string): Work<boolean> {
  return (yield* one(sql`delete from token where id = ${id} returning id`)) !== undefined;
});

const touch = operation("tokens.touch", function* ({ id, at }: { id: string; at: number }): Work<void> {
  yield sql`update token set last_used_at = ${at} where id = ${id}`;
});

export function createTokenStore(database: Database): TokenStore {
  return {
    create: (token) => database.write(create, encode(token)),
    findByHash: async (sha256) => {
      const row = await database.read(findByHash, sha256);
      return row && decode(row);
    },
    list: async () => (await database.read(list, undefined)).map(decode),
    delete: (id) => database.write(remove, id),
    touch: (id, at) => database.write(touch, { id, at: toMs(at) }),
  };
}
