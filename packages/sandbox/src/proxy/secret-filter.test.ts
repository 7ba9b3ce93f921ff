import { Readable } from "node:stream";
import { expect, inject, test } from "vitest";
import { secretFilter, secretsOf } from "./secret-filter.ts";

const RUNS = inject("soak") ? 20_000 : 300;
const below = (limit: number): number => Math.floor(Math.random() * limit);

async function filtered(chunks: readonly Buffer[], secrets: readonly string[]): Promise<Buffer> {
  return Buffer.concat(await Readable.from(chunks).pipe(secretFilter(secrets)).toArray());
}

test("secrets never pass, however the bytes are cut, and the length stays", async () => {
  for (let run = 0; run < RUNS; run += 1) {
    // Few letters, so that false starts and overlaps are common.
    const letters = (length: number): string => Array.from({ length }, () => "ab"[below(2)]).join("");
    const secrets = [letters(8), letters(9)];
    const text = Array.from({ length: 6 }, () => [letters(below(12)), secrets[below(2)]])
      .flat()
      .join("");
    const chunks: Buffer[] = [];
    for (let at = 0; at < text.length;) {
      const next = at + 1 + below(7);
      chunks.push(Buffer.from(text.slice(at, next)));
      at = next;
    }
    const result = (await filtered(chunks, secrets)).toString();
    expect(result.length).toBe(text.length);
    for (const secret of secrets) expect(result, `${text} without ${secrets.join(" ")}`).not.toContain(secret);
  }
});

test("other bytes pass at once and unchanged", async () => {
  const filter = secretFilter(["sk-ant-secret"]);
  filter.write("event: ping\n\n");
  expect(String(filter.read())).toBe("event: ping\n\n");
  const binary = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
  expect(await filtered([binary], ["sk-ant-secret"])).toEqual(binary);
});

test("schemes and short values are no secrets", () => {
  expect(secretsOf({ Authorization: "Bearer abc", "x-api-key": "key", "anthropic-beta": "oauth" })).toEqual([
    "abc",
    "key",
  ]);
});
