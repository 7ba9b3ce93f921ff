import { describe, expect, test } from "vitest";
import { deadline, duration, formatDuration } from "./duration.ts";

describe("duration", () => {
  test.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["1.5m", 90_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["0s", 0],
  ])("%s is %i ms", (text, milliseconds) => expect(duration.parse(text)).toBe(milliseconds));

  test.each(["30", 30, "thirty seconds", "-1s", "1w", "", " 1s", null])("%j is refused with examples", (value) => {
    expect(duration.safeParse(value).error?.issues[0]?.message).toContain("such as 500ms");
  });

  test("a duration that overflows a timer is refused", () => {
    expect(duration.safeParse("30d").success).toBe(false);
    expect(duration.parse("24d")).toBeLessThan(2 ** 31);
  });

  test("a deadline is longer than zero", () => {
    expect(deadline.safeParse("0s").success).toBe(false);
    expect(deadline.parse("1ms")).toBe(1);
  });

  test.each(["500ms", "30s", "90s", "2h", "1d", "1500ms"])("%s is formatted without loss", (text) => {
    expect(duration.parse(formatDuration(duration.parse(text)))).toBe(duration.parse(text));
  });

  test("it is formatted in the largest exact unit", () => {
    expect(formatDuration(7_200_000)).toBe("2h");
    expect(formatDuration(90_000)).toBe("90s");
    expect(formatDuration(0)).toBe("0ms");
  });
});
