import { expect, test } from "vitest";
import { editedInput, fieldsOf } from "./edited-input.ts";

test("unedited fields give back the same input", () => {
  const input = { command: "ls\n-la", timeout: 5, flags: ["a"], nothing: null, yes: true };
  expect(editedInput(fieldsOf(input))).toEqual({ input });
});

test("names the field that cannot be parsed", () => {
  const [command, timeout] = fieldsOf({ command: "{", timeout: 5 });
  expect(editedInput([command!, { ...timeout!, text: "5 s" }])).toEqual({ wrong: "timeout" });
});
