import { expect, test } from "vitest";
import { glimpseOf } from "./glimpse-of.ts";

test("marks go, words stay", () => {
  expect(glimpseOf("## **Two** remarks on `f(x)`, see [the page](https://example.com)")).toBe(
    "Two remarks on f(x), see the page",
  );
  expect(glimpseOf("- one")).toBe("one");
  expect(glimpseOf("2 * 3 ** 4 and a_b__c")).toBe("2 * 3 ** 4 and a_b__c");
});
