import { auditEntry, type AuditEntry, type AuditHead, type AuditVerdict } from "@tandem/protocol";
import { auditHash, GENESIS } from "./audit-hash.ts";

type Problem = NonNullable<AuditVerdict["broken"]>["problem"];

/**
 * Walks the chain from the start and reports the first invalid entry. `noted` are heads recorded earlier: if the chain
 * is shorter, or has another hash at that position, entries were removed or rewritten. Without a noted head, a
 * truncated end cannot be detected.
 */
export async function verifyAudit(
  entries: AsyncIterable<unknown> | Iterable<unknown>,
  noted: readonly AuditHead[] = [],
): Promise<AuditVerdict> {
  let head: AuditHead = { seq: 0, hash: GENESIS };
  const fail = (seq: number, problem: Problem, message: string): AuditVerdict => ({
    ok: false,
    entries: head.seq,
    head,
    broken: { seq, problem, message },
  });
  for await (const given of entries) {
    const expected = head.seq + 1;
    const parsed = auditEntry.safeParse(given);
    if (!parsed.success) return fail(expected, "unreadable", `Entry ${expected} cannot be read.`);
    const entry = parsed.data;
    const wrong = judge(entry, head);
    if (wrong) return fail(expected, ...wrong);
    head = { seq: entry.seq, hash: entry.hash };
    const seen = noted.find(({ seq }) => seq === entry.seq);
    if (seen && seen.hash !== entry.hash) {
      return fail(entry.seq, "changed", `Entry ${entry.seq} is not the one that was noted under its number.`);
    }
  }
  const beyond = noted.filter(({ seq }) => seq > head.seq).toSorted((a, b) => b.seq - a.seq)[0];
  if (beyond) {
    const message = `The audit ends with entry ${head.seq}, and was seen with ${beyond.seq}: its end was cut off.`;
    return fail(head.seq + 1, "truncated", message);
  }
  return { ok: true, entries: head.seq, head, broken: null };
}

function judge(entry: AuditEntry, head: AuditHead): [Problem, string] | undefined {
  const expected = head.seq + 1;
  // The hash covers the entry's own `seq`, so a moved entry still hashes correctly: report it as moved, not as changed.
  const isItself = auditHash(entry.previous, entry) === entry.hash;
  if (entry.seq > expected) {
    return isItself
      ? ["missing", `Entry ${expected} is missing; entry ${entry.seq} follows instead.`]
      : ["changed", `Entry ${expected} is missing or was changed.`];
  }
  if (entry.seq < expected) return ["reordered", `Entry ${entry.seq} stands where ${expected} should be.`];
  if (!isItself) return ["changed", `Entry ${expected} was changed after it was written.`];
  if (entry.previous !== head.hash) {
    return ["changed", `Entry ${expected} does not follow from the one before it: one of them was rewritten.`];
  }
  return undefined;
}
