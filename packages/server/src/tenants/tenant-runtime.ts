import type { Engine } from "@tandem/sessions";
import type { ConnectAgent } from "./connect-agent.ts";
import type { OpencodeHost } from "./opencode-host.ts";
import type { ServerHealth } from "../server-health.ts";
import type { FleetProcess } from "./fleet-process.ts";
import type { ContextSetup, ServedContext } from "../served-context.ts";
import type { ReadTenantUsage } from "./tenant-service.ts";

/** A tenant's services in this process. Requests of the tenant reach everything through this. */
export interface TenantRuntime {
  tenant: { id: string; name: string };
  /** Undefined if usage is not counted. */
  readUsage?: ReadTenantUsage | undefined;
  engine: Engine;
  /** The context; it returns undefined while the tenant's project has none. */
  context?: (() => ServedContext | undefined) | undefined;
  /** Undefined if databases and folders cannot be added to this runtime. */
  setup?: ContextSetup | undefined;
  /** Undefined if the server offers no health routes. */
  health?: ServerHealth | undefined;
  /** Creates an ACP agent for a connection; if undefined, `/acp` is not served. */
  acp?: ConnectAgent | undefined;
  /** Undefined if opencode's clients are not served. */
  opencode?: OpencodeHost | undefined;
  /** Undefined if this process is not in a fleet. */
  fleet?: FleetProcess | undefined;
}

/** The runtimes of all tenants except the default one. */
export interface TenantRuntimes {
  /**
   * Opens the tenant's runtime on first use and returns the same one until it is closed; undefined if the tenant does
   * not exist. Called for every request, so it must be cheap for an open runtime.
   */
  of(tenant: string): Promise<TenantRuntime | undefined>;
  /** The listener is awaited before a runtime closes. */
  onClose(listener: (runtime: TenantRuntime) => Promise<void>): void;
}
