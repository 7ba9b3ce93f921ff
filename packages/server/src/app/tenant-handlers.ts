import { RequestError } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenStore } from "@tandem/storage";
import { TenantHandler, type SharedServices } from "./tenant-handler.ts";
import type { TenantRuntime, TenantRuntimes } from "../tenants/tenant-runtime.ts";
import type { TenantService } from "../tenants/tenant-service.ts";
import { tokensOf } from "../tenants/tokens-of.ts";

/** The handlers of a server, one for each tenant with requests. */
export class TenantHandlers {
  /** The operator's; it always exists. */
  readonly own: TenantHandler;
  readonly #runtimes: TenantRuntimes | undefined;
  readonly #shared: SharedServices;
  readonly #tokens: TokenStore;
  readonly #handlers = new Map<TenantRuntime, TenantHandler>();

  constructor(
    own: TenantRuntime,
    shared: SharedServices,
    parts: { tokens: TokenStore; runtimes: TenantRuntimes | undefined; tenantService: TenantService | undefined },
  ) {
    this.#shared = shared;
    this.#tokens = parts.tokens;
    this.#runtimes = parts.runtimes;
    this.own = new TenantHandler(own, shared, {
      tokens: parts.tokens,
      ...(parts.tenantService && { tenantService: parts.tenantService }),
    });
    this.#runtimes?.onClose(async (runtime) => {
      const handler = this.#handlers.get(runtime);
      this.#handlers.delete(runtime);
      this.#shared.streams.closeOf(runtime.tenant.id, "the tenant is not served any more");
      await handler?.close();
    });
  }

  /** Undefined if the tenant does not exist or is not served here. */
  async of(tenant: string): Promise<TenantHandler | undefined> {
    if (tenant === DEFAULT_TENANT) return this.own;
    const runtime = await this.#open(tenant);
    if (!runtime) return undefined;
    let handler = this.#handlers.get(runtime);
    if (!handler) {
      handler = new TenantHandler(runtime, this.#shared, { tokens: tokensOf(this.#tokens, tenant) });
      this.#handlers.set(runtime, handler);
    }
    return handler;
  }

  async close(): Promise<void> {
    await Promise.all([this.own, ...this.#handlers.values()].map((handler) => handler.close()));
  }

  async #open(tenant: string): Promise<TenantRuntime | undefined> {
    try {
      return await this.#runtimes?.of(tenant);
    } catch (cause) {
      // The cause names files of this machine, so only the log contains it.
      throw new RequestError("unavailable", "This tenant cannot be served at the moment.", {
        fix: "Ask the server's operator: its log says why.",
        cause,
      });
    }
  }
}
