import type { ConversationOutput } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { TurnControl, TurnHook } from "../hooks/turn-hook.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Lets a worker come for the turns of a session in a self-hosted environment. */
export class WorkHook implements TurnHook {
  readonly #control: TurnControl;
  readonly #work: Pick<WorkQueue, "request">;
  readonly #warn: (error: unknown) => void;

  constructor(control: TurnControl, work: Pick<WorkQueue, "request">, warn: (error: unknown) => void) {
    this.#control = control;
    this.#work = work;
    this.#warn = warn;
  }

  async before(): Promise<SessionEventBody[]> {
    await this.#control.database.run(() => this.#work.request(this.#control.row()));
    return [];
  }

  /** The worker of a long turn may have left meanwhile. */
  observe({ event }: Extract<ConversationOutput, { type: "event" }>): void {
    if (event.type !== "agent.tool_use" || !event.tandem.worker) return;
    this.#control.database.run(() => this.#work.request(this.#control.row())).catch(this.#warn);
  }
}
