import type { AuditEntry } from "@tandem/protocol";
import { expect, it } from "vitest";
import { readAuditHead, verifyAuditFile, writeAuditFile } from "./audit-file.ts";
import { auditHash, GENESIS } from "./audit-hash.ts";

function chain(count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let seq = 1; seq <= count; seq += 1) {
    const previous = entries.at(-1)?.hash ?? GENESIS;
    const at = new Date(seq * 1_000).toISOString();
    const entry = { seq, at, actor: "ann", kind: "rule.added" as const, session: null, details: { b: seq, a: "x" } };
    entries.push({ ...entry, previous, hash: auditHash(previous, entry) });
  }
  return entries;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

async function linesOf(entries: readonly AuditEntry[]): Promise<string[]> {
  const last = entries.at(-1);
  const head = { seq: last?.seq ?? 0, hash: last?.hash ?? GENESIS };
  const lines: string[] = [];
  for await (const line of writeAuditFile(head, each(entries))) lines.push(line);
  return lines;
}

const swap = (lines: readonly string[], a: number, b: number): string[] =>
  lines.map((line, index) => (index === a ? lines[b]! : index === b ? lines[a]! : line));

it("verifies an intact export, including an empty one", async () => {
  for (const count of [0, 1, 7]) {
    const lines = await linesOf(chain(count));
    expect(await verifyAuditFile(each(lines))).toMatchObject({ ok: true, entries: count });
    expect((await readAuditHead(each(lines))).seq).toBe(count);
  }
});

it("ignores the order of keys in a line", async () => {
  const lines = await linesOf(chain(3));
  const turned = lines.map((line) => {
    const entries = Object.entries(JSON.parse(line) as object);
    return JSON.stringify(Object.fromEntries(entries.toReversed()));
  });
  expect(await verifyAuditFile(each(turned))).toMatchObject({ ok: true });
});

it.each([
  ["a changed entry", (lines: string[]) => lines.with(3, lines[3]!.replace("ann", "bob")), "changed", 3],
  ["one in the middle that is gone", (lines: string[]) => lines.toSpliced(4, 1), "missing", 4],
  ["two that changed places", (lines: string[]) => swap(lines, 2, 3), "missing", 2],
  ["one that stands there twice", (lines: string[]) => lines.toSpliced(3, 0, lines[2]!), "reordered", 3],
  ["an end that was cut off", (lines: string[]) => lines.slice(0, 5), "truncated", 5],
  ["entries missing before the last line", (lines: string[]) => lines.toSpliced(6, 2), "truncated", 6],
  ["a line that is cut", (lines: string[]) => lines.with(2, lines[2]!.slice(0, 30)), "unreadable", 2],
])("finds %s", async (_, tamper, problem, seq) => {
  const verdict = await verifyAuditFile(each(tamper(await linesOf(chain(7)))));
  expect(verdict).toMatchObject({ ok: false, broken: { problem, seq } });
});

it("detects a rewritten chain by a head noted earlier", async () => {
  const noted = { seq: 5, hash: chain(7)[4]!.hash };
  const forged = chain(7).slice(0, 0);
  for (const { seq } of chain(7)) {
    const previous = forged.at(-1)?.hash ?? GENESIS;
    const entry = { ...chain(7)[seq - 1]!, actor: "mallory", previous };
    forged.push({ ...entry, hash: auditHash(previous, entry) });
  }
  const lines = await linesOf(forged);
  expect(await verifyAuditFile(each(lines))).toMatchObject({ ok: true });
  expect(await verifyAuditFile(each(lines), [noted])).toMatchObject({ ok: false, broken: { seq: 5 } });
  const short = await linesOf(chain(3));
  expect(await verifyAuditFile(each(short), [noted])).toMatchObject({ broken: { problem: "truncated", seq: 4 } });
});

it("rejects a file that is not an audit export", async () => {
  for (const lines of [[], [""], ["{}"], ["not json"]]) {
    await expect(verifyAuditFile(each(lines))).rejects.toMatchObject({ code: "invalid_request" });
  }
});
