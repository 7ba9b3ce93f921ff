import { expect, test } from "vitest";
import { splitMarks } from "./split-marks.ts";

const shown = (snippet: string) => splitMarks(snippet).map(({ text, isMarked }) => (isMarked ? [text] : text));

test.each([
  ["An «active» «customer» has", ["An ", ["active"], " ", ["customer"], " has"]],
  ["«all»", [["all"]]],
  ["none", ["none"]],
  ["", []],
  ["left «open", ["left «open"]],
  ["<b>«x»</b>", ["<b>", ["x"], "</b>"]],
])("%j", (snippet, expected) => expect(shown(snippet)).toEqual(expected));
