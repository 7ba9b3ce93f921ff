import { expect, test } from "vitest";
import { columnFormat } from "./number-format.ts";

/** The separators are those of the machine's locale. */
const plain = (text: string): string => text.replaceAll(/[^\d-]/g, "");

test("decimals of a column are aligned, and integers keep all digits", () => {
  const money = columnFormat(["10.5", 3, null, "1234.567"]);
  expect(["10.5", 3, "1234.567"].map((cell) => plain(money(cell).shown))).toEqual(["1050", "300", "123457"]);
  expect(plain(money("1234.567").exact)).toBe("1234567");
  const count = columnFormat(["12345678901234567890", 7]);
  expect(plain(count("12345678901234567890").shown)).toBe("12345678901234567890");
  const share = columnFormat([0.05882, 0.1]);
  expect(plain(share(0.05882).shown)).toBe("00588");
});
