import type { PreviewSource } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import { FleetKey } from "./fleet-key.ts";
import type { FleetProcess } from "./fleet-process.ts";
import { Roster } from "./roster.ts";
import { SessionPreviews } from "./session-previews.ts";

/** Previews of sessions that other processes write. Opens one stream for each session with listeners here. */
export class RemotePreviews implements PreviewSource, AsyncDisposable {
  readonly #self: FleetProcess;
  readonly #roster: Roster;
  readonly #key: FleetKey;
  readonly #logger: Pick<Logger, "warn">;

  constructor(self: FleetProcess, { tenant, logger }: { tenant: string; logger: Pick<Logger, "warn"> }) {
    this.#self = self;
    this.#roster = new Roster(self.store.workers);
    this.#key = new FleetKey(self, this.#roster, tenant);
    this.#logger = logger;
  }

  watch(...[session, sink]: Parameters<PreviewSource["watch"]>): () => void {
    const dependencies = { self: this.#self, roster: this.#roster, key: this.#key, logger: this.#logger };
    const previews = new SessionPreviews(session, sink, dependencies);
    return () => previews.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#key[Symbol.asyncDispose]();
  }
}
