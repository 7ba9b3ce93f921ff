import type { PreviewSource } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import { FleetKey } from "./fleet-key.ts";
import type { FleetProcess } from "../tenants/fleet-process.ts";
import { Roster } from "./roster.ts";
import { SessionPreviews, type PreviewDependencies } from "./session-previews.ts";

/** Previews of sessions that other processes write. Opens one stream for each session with listeners here. */
export class RemotePreviews implements PreviewSource, AsyncDisposable {
  readonly #dependencies: PreviewDependencies;

  constructor(self: FleetProcess, { tenant, logger }: { tenant: string; logger: Pick<Logger, "warn"> }) {
    const roster = new Roster(self.store.workers);
    this.#dependencies = { self, roster, key: new FleetKey(self, roster, tenant), logger };
  }

  watch(...[session, sink]: Parameters<PreviewSource["watch"]>): () => void {
    const previews = new SessionPreviews(session, sink, this.#dependencies);
    return () => previews.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dependencies.key[Symbol.asyncDispose]();
  }
}
