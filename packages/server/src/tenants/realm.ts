import type { Engine } from "@tandem/sessions";
import type { ConnectAgent } from "../acp/net/acp-door.ts";
import type { Caretaker } from "../caretaker.ts";
import type { FleetSeat } from "../fleet/fleet-seat.ts";
import type { ServedContext } from "../served-context.ts";
import type { TenantStanding } from "./tenant-office.ts";

/** What one tenant has in this process. Whatever a request of the tenant reaches, it reaches through this. */
export interface Realm {
  tenant: { id: string; name: string };
  /** Undefined where nothing is counted. */
  standing?: TenantStanding | undefined;
  engine: Engine;
  /** Undefined where the tenant's project has none. */
  context?: ServedContext | undefined;
  /** Knows how the server itself is; without it, nobody can ask. */
  caretaker?: Caretaker | undefined;
  /** An ACP agent for one connection of a token; without it, there is nothing at `/acp`. */
  acp?: ConnectAgent | undefined;
  /** Undefined where this process is no part of a fleet. */
  fleet?: FleetSeat | undefined;
}

/** The realms of all tenants but the default one. */
export interface Realms {
  /**
   * The tenant's realm, opened when it is first asked for. The same one until it is closed; undefined where there is no such
   * tenant, or none any more. Asked with every request: what it answers for a realm that is open must cost nothing.
   */
  of(tenant: string): Promise<Realm | undefined>;
  /** Told of a realm that is about to end, before anything of it has. */
  onClose(listener: (realm: Realm) => Promise<void>): void;
}
