import { expect, test } from "vitest";
import { readInterruptedTurn } from "./read-interrupted-turn.ts";

const ROW = { id: "sesn_1", status: "running", claudeSession: "c1" } as never;

const call = (number: number) => ({
  seq: number,
  thread: null,
  event: {
    id: `sevt_${number}`,
    type: "agent.tool_use",
    name: "Bash",
    input: {},
    evaluated_permission: "ask",
    tandem: { tool_use_id: `toolu_${number}` },
  },
});

/** A store whose log ends with two calls that wait for a person, and whose transcript contains the second one. */
const storeOf = (...after: object[]) =>
  ({
    events: { read: async () => [call(1), call(2), ...after].toReversed() },
    transcripts: {
      subpaths: async () => [""],
      load: async () => [
        {
          type: "assistant",
          sessionId: "c1",
          message: { content: [{ type: "tool_use", id: "toolu_2", name: "Bash" }] },
        },
      ],
    },
  }) as never;

const ids = (calls: readonly { use: { id: string } }[]): string[] => calls.map(({ use }) => use.id);

test("a call that the transcript lacks is cancelled if no client was asked about it", async () => {
  const turn = await readInterruptedTurn(storeOf(), ROW);
  expect(ids(turn!.waiting)).toEqual(["sevt_2"]);
  expect(ids(turn!.cancelled)).toEqual(["sevt_1"]);
  expect(turn!.running).toEqual([]);
});

test("a call that clients were asked about stays open, in the transcript or not", async () => {
  const stop_reason = { type: "requires_action", event_ids: ["sevt_1", "sevt_2"] };
  const asked = { seq: 3, thread: null, event: { id: "sevt_3", type: "session.status_idle", stop_reason } };
  const turn = await readInterruptedTurn(storeOf(asked), ROW);
  expect(ids(turn!.waiting)).toEqual(["sevt_1", "sevt_2"]);
  expect(turn!.cancelled).toEqual([]);
});

test("an interrupt stops the turn that it found, not one that began after it", async () => {
  const interrupt = (seq: number) => ({ seq, thread: null, event: { id: `sevt_${seq}`, type: "user.interrupt" } });
  const message = { seq: 4, thread: null, event: { id: "sevt_4", type: "user.message", content: [] } };
  const running = { seq: 5, thread: null, event: { id: "sevt_5", type: "session.status_running" } };
  const idle = {
    seq: 2,
    thread: null,
    event: { id: "sevt_2", type: "session.status_idle", stop_reason: { type: "end_turn" } },
  };
  expect(await readInterruptedTurn(storeOf(idle, interrupt(3), message, running), ROW)).toMatchObject({
    isStopped: false,
  });
  expect(await readInterruptedTurn(storeOf(idle, message, running, interrupt(6)), ROW)).toMatchObject({
    isStopped: true,
  });
});
