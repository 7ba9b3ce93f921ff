import type { AuditNote } from "@tandem/protocol";
import { listAll, type Store } from "@tandem/storage";
import type { Halt, KillSwitch } from "./kill-switch.ts";

/** The sessions that this process runs. */
interface RunningSessions {
  /** Ends every turn and process. Resolves with the number of ended turns. */
  halt(halt: Halt): Promise<number>;
  /** Wakes the sessions that have input. */
  lookAround(): Promise<void>;
}

/** Stops everything at once, on all servers of the store, also after a restart. */
export interface Emergency {
  /** Undefined if not stopped. */
  state(): Promise<Halt | undefined>;
  /**
   * When this resolves, every turn is interrupted and every process ended; nothing new starts. Turns that wait for a person
   * keep waiting.
   */
  stop(by: string, reason: string | null): Promise<Halt & { interrupted: number }>;
  /** Resumes waiting work. */
  resume(by?: string): Promise<void>;
  /** Applies a stop or resume by another process here. Resolves with the number of ended turns. */
  heed(): Promise<number>;
}

/** Stops all work on a store: sessions here at once, those of other servers within moments, and jobs. */
export function createEmergency(
  store: Store,
  killSwitch: KillSwitch,
  actors: RunningSessions,
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
  const unfinished = listAll((query) => jobs.list({ ...query, states: ["queued", "running"] }));
  for await (const { id } of unfinished) await jobs.requestCancel(id);
}
