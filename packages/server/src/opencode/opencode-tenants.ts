import type { Engine } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import type { TenantRuntime } from "../tenants/tenant-runtime.ts";
import { Catalogue } from "./catalogue.ts";
import type { OpencodeHost } from "../tenants/opencode-host.ts";
import { OpencodeHub } from "./opencode-hub.ts";

/** A tenant's sessions for opencode's clients. */
export interface OpencodeTenant {
  engine: Engine;
  host: OpencodeHost;
  catalogue: Catalogue;
  hub: OpencodeHub;
}

/** The services of a tenant; undefined if it does not exist or is not served here. */
type RuntimeOf = (tenant: string) => Promise<TenantRuntime | undefined>;

/** The tenants with requests of opencode's clients. Each has its own hub. */
export class OpencodeTenants {
  readonly #runtimeOf: RuntimeOf;
  readonly #logger: Logger;
  readonly #batchMs: number;
  readonly #open = new Map<TenantRuntime, OpencodeTenant>();

  constructor(parts: { runtimeOf: RuntimeOf; logger: Logger; batchMs: number }) {
    this.#runtimeOf = parts.runtimeOf;
    this.#logger = parts.logger;
    this.#batchMs = parts.batchMs;
  }

  /** Undefined if the tenant does not exist or is not served here. */
  async of(tenant: string): Promise<OpencodeTenant | undefined> {
    const runtime = await this.#runtimeOf(tenant);
    if (!runtime?.opencode) return undefined;
    const open = this.#open.get(runtime);
    if (open) return open;
    const { engine, opencode: host } = runtime;
    const { usualMode, usualModel } = host;
    const catalogue = new Catalogue({ engine, usualMode, usualModel });
    const hub = new OpencodeHub({ engine, catalogue, logger: this.#logger, batchMs: this.#batchMs });
    const opened = { engine, host, catalogue, hub };
    this.#open.set(runtime, opened);
    return opened;
  }

  /** Called before a tenant's runtime closes. */
  leave(runtime: TenantRuntime): void {
    this.#open.get(runtime)?.hub.close();
    this.#open.delete(runtime);
  }

  close(): void {
    for (const runtime of this.#open.keys()) this.leave(runtime);
  }
}
