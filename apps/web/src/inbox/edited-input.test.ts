import { expect, test } from "vitest";
import { editedInput, fieldsOf } from "./edited-input.ts";

test("an input comes back from its fields as it was", () => {
  const input = { command: "ls\n-la", timeout: 5, flags: ["a"], nothing: null, yes: true };
  expect(editedInput(fieldsOf(input))).toEqual({ input });
});

test("what cannot be read is named", () => {
  const [command, timeout] = fieldsOf({ command: "{", timeout: 5 });
  expect(editedInput([command!, { ...timeout!, text: "5 s" }])).toEqual({ wrong: "timeout" });
});
