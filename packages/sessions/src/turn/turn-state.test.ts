import type { EventId, ThreadId } from "@tandem/protocol";
import { describe, expect, it } from "vitest";
import { announcement } from "../approvals/pending-calls.ts";
import type { OpenCall } from "../log/open-turn.ts";
import {
  acceptsMessage,
  canReleaseProcess,
  canSteer,
  isBusy,
  isWaiting,
  isWaitLogged,
  NO_TURN,
  transition,
  turnOf,
  type TurnEvent,
  type TurnState,
} from "./turn-state.ts";

const END = { stop: "end_turn", stopDetails: null, reported: {} } as const;

const callOf = (id: string, thread: string | null = null): OpenCall =>
  ({
    thread: thread as ThreadId | null,
    use: { type: "agent.tool_use", id, name: "Bash", tandem: {} },
  }) as unknown as OpenCall;

const after = (...events: TurnEvent[]): TurnState => events.reduce(transition, NO_TURN);

const begin = (message = "m1"): TurnEvent => ({ type: "begin", at: 0, message: message as EventId });
const asked = (id: string, thread: string | null = null): TurnEvent => ({
  type: "call.asked",
  call: callOf(id, thread),
  isSaved: true,
});

describe("the state of a turn", () => {
  it("goes from the message over Claude's work to its end", () => {
    const types = ["begin", "prompted", "claudeEnded", "end", "ended"] as const;
    const events: Record<(typeof types)[number], TurnEvent> = {
      begin: begin(),
      prompted: { type: "prompted" },
      claudeEnded: { type: "claudeEnded" },
      end: { type: "end" },
      ended: { type: "ended" },
    };
    const states = types.map((_, index) => after(...types.slice(0, index + 1).map((type) => events[type])).type);
    expect(states).toEqual(["starting", "running", "settling", "ending", "idle"]);
  });

  it("rejects events that cannot occur", () => {
    expect(() => after({ type: "prompted" })).toThrow('A turn in the state "idle" cannot take "prompted".');
    expect(() => after({ type: "ended" })).toThrow("cannot take");
    expect(() => after(begin(), { type: "end" }, { type: "end" })).toThrow("cannot take");
    expect(() => after(begin(), begin("m2"))).toThrow("cannot take");
    expect(() => after(begin(), { type: "end" }, { type: "claudeEnded" })).toThrow("cannot take");
  });

  it("is between two steps after the last result, even if the next request was reported first", () => {
    const started: TurnEvent = { type: "requestStarted" };
    const ended: TurnEvent = { type: "requestEnded" };
    const called: TurnEvent = { type: "agentEvent", isLastResult: false };
    const result: TurnEvent = { type: "agentEvent", isLastResult: true };
    const isBetweenSteps = (...events: TurnEvent[]): boolean =>
      after(begin(), { type: "prompted" }, ...events).isBetweenSteps;
    expect(isBetweenSteps(started, called, ended, result)).toBe(true);
    expect(isBetweenSteps(started, called, ended, started, result)).toBe(true);
    expect(isBetweenSteps(started, called, ended, result, started, called)).toBe(false);
    // The model may still add calls to the answer that it is writing.
    expect(isBetweenSteps(started, called, result)).toBe(false);
  });

  it("can be steered only while Claude has its prompt and no call waits", () => {
    expect(canSteer(after(begin()))).toBe(false);
    expect(canSteer(after(begin(), { type: "prompted" }))).toBe(true);
    expect(canSteer(after(begin(), { type: "prompted" }, asked("c1")))).toBe(false);
  });

  it("keeps a turn with background tasks open for the next message", () => {
    const resting = after(begin(), { type: "prompted" }, { type: "claudeEnded" }, { type: "rest", end: END });
    expect(acceptsMessage(resting)).toBe(true);
    const next = transition(resting, begin("m2"));
    expect(next.type === "starting" && next.turn.messages).toEqual(["m1", "m2"]);
    expect(next.type === "starting" && resting.type === "background" && next.turn.id === resting.turn.id).toBe(true);
  });

  it("is busy until the log says what it waits for", () => {
    const waiting = after(begin(), { type: "prompted" }, asked("c1"));
    expect([isWaiting(waiting), isBusy(waiting)]).toEqual([true, true]);
    const logged = transition(waiting, { type: "calls.announced", ids: ["c1" as EventId] });
    expect([isWaitLogged(logged), isBusy(logged)]).toEqual([true, false]);
    const more = transition(logged, asked("c2"));
    expect(isBusy(more)).toBe(true);
  });

  it("does not release the process of a subagent's call", () => {
    expect(canReleaseProcess(after(begin(), asked("c1")))).toBe(true);
    expect(canReleaseProcess(after(begin(), asked("c1"), asked("c2", "thread")))).toBe(false);
  });

  it("does not ask clients before the call is saved", () => {
    const unsaved = after(begin(), { type: "call.asked", call: callOf("c1"), isSaved: false });
    expect(announcement(unsaved.calls)).toBeUndefined();
    expect(announcement(transition(unsaved, { type: "call.saved", id: "c1" as EventId }).calls)?.ids).toEqual(["c1"]);
  });

  it("counts its quota waits", () => {
    const waiting = after(begin(), { type: "waitForQuota", until: 5_000, isNew: true });
    const resumed = transition(waiting, { type: "resume" });
    expect(resumed.type === "starting" && resumed.turn.quotaWaits).toBe(1);
  });

  it("waits without its process until the last call is answered", () => {
    expect(after(begin(), { type: "prompted" }, asked("c1"), { type: "suspend" }).type).toBe("waiting");
  });

  it("is graded as a turn of its own", () => {
    const ending = after(begin(), { type: "end" });
    const graded = transition(ending, { type: "grade", at: 1 });
    expect(turnOf(graded)).toMatchObject({ messages: ["m1"], startedAt: 1 });
    expect(turnOf(graded)!.id).not.toBe(turnOf(ending)!.id);
  });

  it("keeps a call that is asked while the end is written", () => {
    expect(after(begin(), { type: "end" }, asked("c1"), { type: "ended" }).calls.calls.size).toBe(1);
  });

  it("remembers the limit when it is interrupted after it", () => {
    const limit: TurnEvent = { type: "limit", reason: { type: "end_turn" }, events: [] };
    const stop = { isInterrupt: true, limit: { reason: { type: "end_turn" }, events: [] } };
    expect(turnOf(after(begin(), limit, { type: "interrupt" }))?.stop).toEqual(stop);
  });

  it("ends with the first limit that stopped it, and remembers the interrupt", () => {
    const reason = (type: string) => ({ type }) as never;
    const state = after(
      begin(),
      { type: "interrupt" },
      { type: "limit", reason: reason("first"), events: [] },
      { type: "limit", reason: reason("second"), events: [] },
    );
    expect(state.type === "starting" && state.turn.stop).toEqual({
      isInterrupt: true,
      limit: { reason: { type: "first" }, events: [] },
    });
  });
});
