import { randomBytes } from "node:crypto";
import { isoNow, newId, systemClock, TandemError, type Clock } from "@tandem/protocol";
import { DEFAULT_TENANT, type Scope, type TokenRow, type TokenStore } from "@tandem/storage";
import { sha256 } from "./sha256.ts";

/** Creates a token. The secret is returned only here; the store keeps its hash. */
export async function createToken(
  tokens: TokenStore,
  {
    name,
    scopes,
    tenant = DEFAULT_TENANT,
    secret = `tandem_${randomBytes(32).toString("base64url")}`,
  }: { name: string; scopes: readonly Scope[]; tenant?: string; secret?: string },
): Promise<{ secret: string; token: TokenRow }> {
  if (scopes.length === 0) {
    throw new TandemError("invalid_token", "A token without a scope could do nothing.", {
      fix: "Give it read, run or admin.",
    });
  }
  const token = newToken({ name, tenant, scopes, sha256: sha256(secret) }, systemClock);
  await tokens.create(token);
  return { secret, token };
}

/** A row that is not stored yet. */
export const newToken = (
  row: Pick<TokenRow, "name" | "tenant" | "scopes" | "sha256">,
  clock: Pick<Clock, "now">,
): TokenRow => ({
  id: newId("token"),
  ...row,
  createdAt: isoNow(clock),
  lastUsedAt: null,
});
