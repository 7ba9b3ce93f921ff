import type { TurnEnd } from "@tandem/claude-code";
import type { ApprovalRequests, LateAnswers } from "../approvals/approval-requests.ts";
import type { Placed } from "../log/open-turn.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { cutOff } from "./turn-end.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { isWaiting } from "./turn-state.ts";
import type { TurnStatus } from "./turn-status.ts";

interface SurvivingParts {
  writer: SessionWriter;
  machine: TurnMachine;
  requests: ApprovalRequests;
  status: TurnStatus;
  close: (turn: "left" | "lost") => Promise<void>;
  /** Continues the turn in a new process. */
  resume: () => Promise<void>;
}

/** Keeps a turn open whose calls outlive their process. */
export class SurvivingCalls {
  readonly #parts: SurvivingParts;

  constructor(parts: SurvivingParts) {
    this.#parts = parts;
  }

  /**
   * The process died while calls waited for an answer, or while a call ran that a person had allowed. The turn stays open:
   * the answers continue it in a new process. Returns false if there is no such call.
   */
  async afterDeath(end: TurnEnd): Promise<boolean> {
    const { writer, machine, requests, close, resume } = this.#parts;
    const kept = end.error?.tandem?.code === "process_died" ? requests.survivors : [];
    if (kept.length === 0) return false;
    await close("lost");
    const ids = new Set(kept.map(({ use }) => use.id));
    const lost = [...writer.open.values()].filter(({ use }) => !ids.has(use.id));
    const cause = end.error?.message ?? "The Claude Code process died.";
    await writer.place([
      ...cutOff(lost, "crash", requests.isUnstarted),
      ...requests.interrupt(lost),
      { thread: null, body: { type: "tandem.recovered", cause, closed: lost.map(({ use }) => use.id) } },
    ]);
    requests.askOutcomes(requests.running);
    // If no call waits for a person, only allowed calls are left, and they run now.
    if (isWaiting(machine.state)) await this.#suspend();
    else await resume();
    return true;
  }

  /** No process could be started for allowed calls. They stay allowed, and a person is asked to try again or dismiss them. */
  async afterFailedStart({ results }: LateAnswers, end: TurnEnd): Promise<boolean> {
    const { writer, requests, close } = this.#parts;
    const held = requests.hold(results, end.error?.message ?? "The process could not be started.");
    if (held.length === 0) return false;
    await close("left");
    const failed: Placed[] = end.error ? [{ thread: null, body: { type: "session.error", error: end.error } }] : [];
    await writer.place([...failed, ...held]);
    await this.#suspend();
    return true;
  }

  async #suspend(): Promise<void> {
    this.#parts.machine.apply({ type: "suspend" });
    await this.#parts.status.announce();
  }
}
