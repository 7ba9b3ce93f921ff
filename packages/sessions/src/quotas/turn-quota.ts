import type { SessionId } from "@tandem/protocol";
import type { Quotas, SessionStore } from "@tandem/storage";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import type { TurnHook, TurnControl } from "../hooks/turn-hook.ts";

/**
 * Limits concurrent turns in all processes on the store. A message over the limit stays in the input queue. Its session
 * reports that, and the message is tried again when a turn ends. A turn that waits for a person does not count.
 */
export class TurnQuota {
  readonly #sessions: Pick<SessionStore, "list">;
  readonly #quotas: () => Quotas;
  readonly #wake: (session: SessionId) => void;
  readonly #running = new Map<SessionId, TurnControl>();
  readonly #waiting = new Set<SessionId>();

  constructor(
    sessions: Pick<SessionStore, "list">,
    quotas: () => Quotas,
    /** Makes a session check its input queue. */
    wake: (session: SessionId) => void,
  ) {
    this.#sessions = sessions;
    this.#quotas = quotas;
    this.#wake = wake;
  }

  turnHook(control: TurnControl): TurnHook {
    const { id } = control.row();
    let isTold = false;
    const leave = async (): Promise<void> => {
      if (this.#running.delete(id)) this.#offer();
    };
    return {
      admit: async () => {
        const { maxRunning } = this.#quotas();
        if (maxRunning === undefined || (await this.#hasRoom(id, maxRunning))) {
          this.#running.set(id, control);
          this.#waiting.delete(id);
          isTold = false;
          return undefined;
        }
        this.#waiting.add(id);
        const text = `${maxRunning} ${maxRunning === 1 ? "turn runs" : "turns run"} already, the maximum. The message waits until one ends.`;
        const events = isTold ? [] : [{ type: "tandem.notice" as const, level: "info" as const, text }];
        isTold = true;
        return { events };
      },
      // A resumed turn is not blocked: it was admitted before.
      before: async () => {
        this.#running.set(id, control);
        return [];
      },
      after: async () => {
        await leave();
        return [];
      },
      left: leave,
    };
  }

  async #hasRoom(id: SessionId, most: number): Promise<boolean> {
    if (this.#running.has(id)) return true;
    const { data } = await this.#sessions.list({ limit: most + this.#running.size, statuses: ["running"] });
    const elsewhere = data.filter((row) => row.id !== id && !this.#running.has(row.id)).length;
    const here = [...this.#running.values()].filter((control) => unansweredCalls(control.row()).length === 0).length;
    return elsewhere + here < most;
  }

  /** The longest-waiting session is checked first; the others keep waiting if it takes the slot. */
  #offer(): void {
    for (const session of this.#waiting) this.#wake(session);
  }
}
