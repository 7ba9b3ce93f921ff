import { expect, test } from "vitest";
import { bytes } from "./bytes.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_500, "1.5 kB"],
  [229_376, "229 kB"],
  [5e9, "5.0 GB"],
])("%i is %s", (count, expected) => expect(bytes(count)).toBe(expected));
