import { RequestError, type AuditNote, type EnvironmentKey, type TokenId, isoNow, type Clock } from "@tandem/protocol";
import type { TokenRow, TokenStore } from "@tandem/storage";
import { newWorkerToken } from "./worker-token.ts";

interface KeyDependencies {
  tokens: TokenStore;
  tenant: string;
  clock: Clock;
  /** Rejects if there is no such self-hosted environment. */
  check: (environment: string) => Promise<void>;
  note: (entry: AuditNote) => Promise<void>;
}

/** The keys that workers of self-hosted environments poll with. */
export class EnvironmentKeyService {
  readonly #dependencies: KeyDependencies;

  constructor(dependencies: KeyDependencies) {
    this.#dependencies = dependencies;
  }

  /** Newest first, without their secrets. */
  async list(environment: string): Promise<EnvironmentKey[]> {
    await this.#dependencies.check(environment);
    const rows = await this.#rows(environment);
    return rows.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)).map((row) => view(row, environment));
  }

  /** The secret is in this answer only. */
  async create(environment: string, { name = "worker", by }: { name?: string; by: string }) {
    const { tokens, tenant, clock, check, note } = this.#dependencies;
    await check(environment);
    const { secret, row } = newWorkerToken({ tenant, name, worker: { environment } }, isoNow(clock));
    await tokens.create(row);
    await note({ kind: "token.created", actor: by, details: { id: row.id, name, environment } });
    return { ...view(row, environment), secret };
  }

  /** Streams that the key has open end with their next heartbeat. */
  async revoke(environment: string, id: string, by: string): Promise<void> {
    const { tokens, check, note } = this.#dependencies;
    await check(environment);
    const row = (await this.#rows(environment)).find((each) => each.id === id);
    if (!row) throw new RequestError("not_found", `The environment ${environment} has no key ${id}.`);
    await tokens.delete(id as TokenId);
    await note({ kind: "token.revoked", actor: by, details: { id, name: row.name, environment } });
  }

  /** Revokes all keys of a deleted environment. */
  async forget(environment: string): Promise<void> {
    for (const { id } of await this.#rows(environment)) await this.#dependencies.tokens.delete(id);
  }

  async #rows(environment: string): Promise<TokenRow[]> {
    const { tokens, tenant } = this.#dependencies;
    const rows = await tokens.list(tenant);
    return rows.filter(({ worker }) => worker?.environment === environment && !worker.work);
  }
}

const view = ({ id, name, createdAt, lastUsedAt }: TokenRow, environment: string): EnvironmentKey => ({
  type: "environment_key",
  id,
  environment_id: environment,
  name,
  created_at: createdAt,
  last_used_at: lastUsedAt,
});
