import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { LogFile, logFiles } from "./log-file.ts";

const line = (n: number) => `${JSON.stringify({ n })}\n`;

test("the log is private, is appended to after a restart, and keeps a few rotated files", async () => {
  await using folder = await testFolder();
  const logs = folder.join("logs");
  const size = line(1).length * 10;
  for (const [from, to] of [
    [0, 15],
    [15, 95],
  ] as const) {
    await using log = new LogFile(logs, size);
    for (let n = from; n < to; n += 1) log.write(line(n));
  }
  const texts = await Promise.all(logFiles(logs).map((file) => readFile(file, "utf8")));
  const numbers = texts
    .join("")
    .trim()
    .split("\n")
    .map((text) => (JSON.parse(text) as { n: number }).n);
  expect(numbers.at(-1)).toBe(94);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 95 - numbers.length + i));
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(size + 10);
  expect((await stat(logFiles(logs).at(-1)!)).mode & 0o777).toBe(0o600);
  expect((await stat(logs)).mode & 0o777).toBe(0o700);
});
