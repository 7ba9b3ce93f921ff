import { expect, test } from "vitest";
import { toCount } from "./number-options.ts";

test.each(["0", "-1", "x", "1.5", ""])("rejects a count of %j", (text) => {
  expect(() => toCount("--limit", text)).toThrow("--limit");
});
