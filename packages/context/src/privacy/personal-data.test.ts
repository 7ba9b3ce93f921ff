import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { personalData } from "./personal-data.ts";
import { holdsPersonalData } from "./personal-values.ts";

const columns = readFileSync(new URL("testing/labelled-columns.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [place = "", type = "", kind = "", values = ""] = line.split(" | ").map((part) => part.trim());
    const [table = "", column = ""] = place.split(".");
    const expected = kind === "-" ? undefined : kind;
    return { line, expected, found: personalData({ table, column, type, values: values.split(/; ?/) }) };
  });

describe("detection of personal data", () => {
  test("misses few personal columns of the labelled list and takes few others for personal", () => {
    const personal = columns.filter(({ expected }) => expected !== undefined);
    const detected = columns.filter(({ found }) => found !== undefined);
    const right = detected.filter(({ expected }) => expected !== undefined);
    const wrong = columns.filter(({ expected, found }) => expected !== found).map(({ line, found }) => [found, line]);
    expect(columns.length).toBeGreaterThanOrEqual(120);
    expect(right.length / personal.length, `recall; ${JSON.stringify(wrong, null, 1)}`).toBeGreaterThanOrEqual(0.95);
    expect(right.length / detected.length, `precision; ${JSON.stringify(wrong, null, 1)}`).toBeGreaterThanOrEqual(0.95);
    expect(wrong.length / columns.length).toBeLessThanOrEqual(0.05);
  });

  test.each([
    ["Call anna.schmidt@example.com before noon", true],
    ["Refund to DE89 3704 0044 0532 0130 00 was made", true],
    ["Card 4111 1111 1111 1111 was declined", true],
    ["Order 4000123456789012 was shipped", false],
    ["Great service, would buy again", false],
  ])("tells single values of free text: %s", (text, expected) => {
    expect(holdsPersonalData(text)).toBe(expected);
  });
});
