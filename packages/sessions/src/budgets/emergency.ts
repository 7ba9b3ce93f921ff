import type { AuditNote } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { Emergency } from "../engine.ts";
import type { SessionActors } from "../actor/session-actors.ts";
import type { KillSwitch } from "./kill-switch.ts";

const PAGE = 100;

/** Stops everything that works on a store: sessions here and now, those of other servers within moments, and jobs. */
export function createEmergency(
  store: Store,
  killSwitch: KillSwitch,
  actors: SessionActors,
  note: (note: AuditNote) => Promise<void>,
): Emergency {
  return {
    state: () => killSwitch.state(),
    async stop(by, reason) {
      const halt = await killSwitch.engage(by, reason);
      const interrupted = await actors.halt(halt);
      await cancelJobs(store.jobs);
      await note({ kind: "switch.stopped", actor: by, details: { reason, interrupted } });
      return { ...halt, interrupted };
    },
    async resume(by = "unknown") {
      await killSwitch.release();
      await note({ kind: "switch.released", actor: by, details: {} });
      await actors.lookAround();
    },
    async heed() {
      const halt = await killSwitch.state();
      if (halt) return actors.halt(halt);
      await actors.lookAround();
      return 0;
    },
  };
}

async function cancelJobs(jobs: Store["jobs"]): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await jobs.list({ limit: PAGE, states: ["queued", "running"], ...(cursor && { cursor }) });
    await Promise.all(page.data.map(({ id }) => jobs.requestCancel(id)));
    cursor = page.next;
  }
}
