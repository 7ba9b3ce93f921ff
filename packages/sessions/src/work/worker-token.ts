import { createHash, randomBytes } from "node:crypto";
import { newId, type TokenId } from "@tandem/protocol";
import type { TokenRow, WorkerAccess } from "@tandem/storage";

/** A new token of a worker, in the form that Anthropic's clients expect, and its row, which has only a hash of it. */
export function newWorkerToken(
  { tenant, name, worker }: Pick<TokenRow, "tenant" | "name"> & { worker: WorkerAccess },
  at: string,
  id: TokenId = newId("token"),
): { secret: string; row: TokenRow } {
  const secret = `sk-ant-oat01-${randomBytes(48).toString("base64url")}`;
  const sha256 = createHash("sha256").update(secret).digest("hex");
  return { secret, row: { id, name, tenant, sha256, scopes: [], worker, createdAt: at, lastUsedAt: null } };
}
