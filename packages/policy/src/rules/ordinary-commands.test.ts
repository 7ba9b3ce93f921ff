import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judgeOrdinary } from "../testing/judge-ordinary.ts";

/** Each line has the verdicts of 0.1.0, before options were allowlisted, and a command. */
const file = new URL("../testing/ordinary-commands.txt", import.meta.url);
const lines = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => ({ before: line.slice(0, 3), command: line.slice(4) }));

test("of the commands that people and agents use, at most 5 % more ask than before", () => {
  const now = lines.map(({ before, command }) => ({ before, command, now: judgeOrdinary(command) }));
  for (const [index, setting] of ["a deny beside it", "allowed by name", "plan mode"].entries()) {
    const stricter = now.filter((line) => line.before[index] === "a" && line.now[index] !== "a");
    const asked = stricter.map(({ command }) => command);
    expect(asked.length, `${setting}: ${asked.join("\n")}`).toBeLessThanOrEqual(lines.length * 0.05);
  }
  expect(new Set(lines.map(({ command }) => command)).size).toBeGreaterThanOrEqual(300);
});
