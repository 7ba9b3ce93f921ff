import { expect, test } from "vitest";
import { checkMetadata } from "./session-draft.ts";

test("a requester is one line, because it becomes a line of a commit", () => {
  expect(() => checkMetadata({ "tandem.requester": "Ann <ann@example.com>" })).not.toThrow();
  const forged = "Ann <ann@example.com>\nSigned-off-by: Bob <bob@example.com>";
  expect(() => checkMetadata({ "tandem.requester": forged })).toThrow("expected one line");
});
