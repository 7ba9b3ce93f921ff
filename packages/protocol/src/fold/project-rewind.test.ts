import { describe, expect, it } from "vitest";
import { project } from "./projection.ts";
import { eventId, log, type Line } from "./testing/log.ts";

const said = (as: string): Line => ({ as, type: "user.message", content: [{ type: "text", text: as }] });
const answer = (as: string): Line => ({ as, type: "agent.message", content: [{ type: "text", text: as }] });
const idle: Line = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };
const turn = (name: string): Line[] => [said(name), answer(`${name}-answer`), idle];
const rewound = (as: string, more: object): Line => ({
  as,
  type: "tandem.rewound",
  scope: "both",
  to_message_id: null,
  checkpoint_id: null,
  undo_checkpoint_id: null,
  files: 0,
  ...more,
});
const marks = (...lines: Line[]) => project(log(...lines)).map(({ id, rewound: by }) => [id, by]);

describe("a rewind", () => {
  const back = rewound("back", { to_message_id: eventId("two") });

  it("marks the message and the following ones, and keeps them", () => {
    expect(marks(...turn("one"), ...turn("two"), ...turn("three"), back, ...turn("four"))).toEqual([
      ["sevt_one", undefined],
      ["sevt_one-answer", undefined],
      ["sevt_two", "sevt_back"],
      ["sevt_two-answer", "sevt_back"],
      ["sevt_three", "sevt_back"],
      ["sevt_three-answer", "sevt_back"],
      ["sevt_back", undefined],
      ["sevt_four", undefined],
      ["sevt_four-answer", undefined],
    ]);
  });

  it("of a rewind marks what that rewind restored and keeps older marks", () => {
    const further = rewound("further", { to_message_id: eventId("one") });
    expect(marks(...turn("one"), ...turn("two"), back, further)).toEqual([
      ["sevt_one", "sevt_further"],
      ["sevt_one-answer", "sevt_further"],
      ["sevt_two", "sevt_back"],
      ["sevt_two-answer", "sevt_back"],
      ["sevt_back", "sevt_further"],
      ["sevt_further", undefined],
    ]);
  });

  it("leaves no marks after it is undone", () => {
    const undone = rewound("undone", { undoes: eventId("back") });
    const all = marks(...turn("one"), ...turn("two"), back, undone);
    expect(all.filter(([, by]) => by !== undefined)).toEqual([]);
    expect(all).toHaveLength(6);
  });

  it("of files alone marks nothing", () => {
    const files = rewound("files", { scope: "files", to_message_id: eventId("two") });
    expect(marks(...turn("one"), ...turn("two"), files).filter(([, by]) => by !== undefined)).toEqual([]);
  });

  it("to a point before the fold marks all of it", () => {
    const before = rewound("before", { to_message_id: eventId("unseen") });
    expect(marks(...turn("two"), before)).toEqual([
      ["sevt_two", "sevt_before"],
      ["sevt_two-answer", "sevt_before"],
      ["sevt_before", undefined],
    ]);
  });
});
