import type { TokenId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { createToken, deleteToken, findToken, listTokens, touchToken, type StoredToken } from "../operations/tokens.ts";
import type { Scope, TokenRow, TokenStore, WorkerAccess } from "../store.ts";
import { toIso, toIsoOrNull, toMs, toMsOrNull } from "../rows/time.ts";

const encode = (token: TokenRow): StoredToken => ({
  id: token.id,
  name: token.name,
  sha256: token.sha256,
  // An older version knows no such scope, and refuses the token.
  scopes: JSON.stringify(token.worker ? [...token.scopes, { worker: token.worker }] : token.scopes),
  created_at: toMs(token.createdAt),
  last_used_at: toMsOrNull(token.lastUsedAt),
  tenant: token.tenant,
});

type StoredScope = Scope | { worker: WorkerAccess };

const decode = (row: StoredToken): TokenRow => ({
  ...decodeScopes(JSON.parse(row.scopes) as StoredScope[]),
  id: row.id as TokenId,
  name: row.name,
  tenant: row.tenant,
  sha256: row.sha256,
  createdAt: toIso(row.created_at),
  lastUsedAt: toIsoOrNull(row.last_used_at),
});

function decodeScopes(stored: readonly StoredScope[]): Pick<TokenRow, "scopes" | "worker"> {
  const access = stored.find((scope) => typeof scope === "object");
  return { scopes: stored.filter((scope) => typeof scope === "string"), ...(access && { worker: access.worker }) };
}

export function createTokenStore(database: Database): TokenStore {
  return {
    create: async (token) => database.write(createToken, encode(token)),
    findByHash: async (sha256) => {
      const row = await database.read(findToken, sha256);
      return row && decode(row);
    },
    list: async (tenant) => (await database.read(listTokens, tenant)).map(decode),
    delete: (id) => database.write(deleteToken, id),
    touch: async (id, at) => database.write(touchToken, { id, at: toMs(at) }),
  };
}
