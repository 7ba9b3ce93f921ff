import { expect, test } from "vitest";
import { plainLine } from "./plain-line.ts";

test("removes Markdown markup and keeps the text", () => {
  expect(plainLine("## **Two** remarks on `f(x)`, see [the page](https://example.com)")).toBe(
    "Two remarks on f(x), see the page",
  );
  expect(plainLine("- one")).toBe("one");
  expect(plainLine("2 * 3 ** 4 and a_b__c")).toBe("2 * 3 ** 4 and a_b__c");
});
