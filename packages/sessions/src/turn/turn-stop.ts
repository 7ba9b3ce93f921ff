import type { EventId, EventOf, Interruption, SessionEventBody, StopReason, WorkflowRunResult } from "@tandem/protocol";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import { RUN_AT_LIMIT, RUN_LOST, RUN_STOPPED } from "../log/open-runs.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnEnding } from "./turn-ending.ts";
import { interruptedTurn } from "./turn-failure.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { isWaiting, type StopRequest } from "./turn-state.ts";

/** Longer than the start and the end of a process and the last checkpoint may take together. */
const STOP_MS = 180_000;

interface StopParts {
  machine: TurnMachine;
  holder: ConversationHolder;
  ending: TurnEnding;
  /** Closes the process. */
  close: () => Promise<void>;
}

/** Stops a turn early: for a client that interrupts it, or at a limit. It ends when Claude Code confirms that. */
export class TurnStop {
  readonly #dependencies: TurnDependencies;
  readonly #parts: StopParts;

  constructor(dependencies: TurnDependencies, parts: StopParts) {
    this.#dependencies = dependencies;
    this.#parts = parts;
  }

  async interrupt(event: EventOf<"user.interrupt">): Promise<void> {
    const { machine, holder, ending } = this.#parts;
    await this.#dependencies.writer.take(event);
    const { turn } = machine;
    const named = event.tandem?.turn_event_id as EventId | undefined;
    const isMeant = named === undefined || named === ending.outcomes.active?.event_id;
    if (!isMeant && !turn?.messages.includes(named)) return;
    // An outcome can be active without a turn: after an error, or at a limit.
    if (!turn) return ending.endOutcome();
    machine.apply({ type: "interrupt" });
    this.#watch(turn.id);
    if (machine.state.type === "grading") return ending.end(interruptedTurn(), "interrupt");
    holder.cancelReserve();
    if (machine.state.type === "background") return this.#cut("interrupt");
    if (holder.current) await holder.current.interrupt();
    else if (isWaiting(machine.state)) await ending.end(interruptedTurn(), "interrupt");
  }

  /** Called by turn hooks. Only the first limit of a turn has an effect. */
  atLimit(reason: StopReason, events: readonly SessionEventBody[] = []): void {
    const { machine, holder, ending } = this.#parts;
    const { turn } = machine;
    if (!turn || turn.stop?.limit) return;
    machine.apply({ type: "limit", reason, events });
    holder.cancelReserve();
    const { type } = machine.state;
    if (type !== "background" && type !== "grading") return void holder.current?.interrupt();
    // Claude has finished already and will report no further end.
    this.#dependencies.next(async () => {
      if (!machine.isOpen(turn.id)) return;
      await (machine.state.type === "grading" ? ending.end(interruptedTurn(), "stopped") : this.#cut("stopped"));
    });
  }

  /** An interrupted turn that does not end in time, whatever the reason is, is left to the next writer, which ends it. */
  #watch(id: number): void {
    const { settings, giveUp } = this.#dependencies;
    settings.clock.after(STOP_MS, () => {
      if (this.#parts.machine.turn?.id === id) giveUp(new Error("The interrupted turn did not end in time."));
    });
  }

  async #cut(why: Interruption): Promise<void> {
    await this.#parts.close();
    await this.#parts.ending.end(interruptedTurn(), why);
  }
}

/** How workflow runs end that end with the process of a turn. */
export function runResult(stop: StopRequest | undefined): WorkflowRunResult {
  if (stop?.limit) return RUN_AT_LIMIT;
  return stop?.isInterrupt ? RUN_STOPPED : RUN_LOST;
}
