import { expect, test } from "vitest";
import { afterPrefix } from "./records.ts";

test("increments the last code point, skipping surrogates and the maximum", () => {
  expect(afterPrefix("a/")).toBe("a0");
  expect(afterPrefix("a\ud7ff")).toBe("a\ue000");
  expect(afterPrefix("a🌲")).toBe("a🌳");
  expect(afterPrefix("a\u{10ffff}\u{10ffff}")).toBe("b");
  expect(afterPrefix("\u{10ffff}")).toBeUndefined();
  expect(afterPrefix("")).toBeUndefined();
});
