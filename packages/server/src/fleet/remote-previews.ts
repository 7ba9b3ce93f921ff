import type { PreviewSource, PreviewWatch } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import { FleetKey } from "./fleet-key.ts";
import type { FleetSeat } from "./fleet-seat.ts";
import { Roster } from "./roster.ts";
import { SessionPreviews } from "./session-previews.ts";

/** Previews of sessions that other processes write. Opens one stream for each session with listeners here. */
export class RemotePreviews implements PreviewSource, AsyncDisposable {
  readonly #seat: FleetSeat;
  readonly #roster: Roster;
  readonly #key: FleetKey;
  readonly #logger: Pick<Logger, "warn">;

  constructor(seat: FleetSeat, { tenant, logger }: { tenant: string; logger: Pick<Logger, "warn"> }) {
    this.#seat = seat;
    this.#roster = new Roster(seat.store.workers);
    this.#key = new FleetKey(seat, this.#roster, tenant);
    this.#logger = logger;
  }

  watch(...[session, outlet]: Parameters<PreviewSource["watch"]>): PreviewWatch {
    const parts = { seat: this.#seat, roster: this.#roster, key: this.#key, logger: this.#logger };
    return new SessionPreviews(session, outlet, parts);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#key[Symbol.asyncDispose]();
  }
}
