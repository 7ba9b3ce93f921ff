import {
  auditHead,
  parseJson,
  RequestError,
  type AuditEntry,
  type AuditHead,
  type AuditVerdict,
} from "@tandem/protocol";
import { z } from "zod";
import { GENESIS } from "./audit-hash.ts";
import { verifyAudit } from "./verify-audit.ts";

// An export has a header line, one line per entry, and the head. Without the head, a truncated export could not be
// detected.

const firstLine = z.object({ type: z.literal("tandem_audit"), version: z.literal(1), exported_at: z.string() });
const lastLine = auditHead.extend({ type: z.literal("tandem_audit_head") });

/** Yields JSON lines without line feeds. */
export async function* writeAuditFile(head: AuditHead, entries: AsyncIterable<AuditEntry>): AsyncGenerator<string> {
  yield JSON.stringify({ type: "tandem_audit", version: 1, exported_at: new Date().toISOString() });
  for await (const entry of entries) yield JSON.stringify(entry);
  yield JSON.stringify({ type: "tandem_audit_head", ...head });
}

/** Verifies an exported audit. Throws if the file is not an audit; returns a verdict if it was tampered with. */
export async function verifyAuditFile(
  lines: AsyncIterable<string>,
  noted: readonly AuditHead[] = [],
): Promise<AuditVerdict> {
  let head: AuditHead | undefined;
  let isFirst = true;
  async function* entries(): AsyncGenerator {
    for await (const line of lines) {
      if (line.trim() === "") continue;
      const value = parseJson(line);
      if (isFirst) {
        isFirst = false;
        if (!firstLine.safeParse(value).success) throw notAnAudit();
        continue;
      }
      const last = lastLine.safeParse(value);
      if (last.success) head = { seq: last.data.seq, hash: last.data.hash };
      else yield value;
    }
  }
  const verdict = await verifyAudit(entries(), noted);
  if (isFirst) throw notAnAudit();
  if (!verdict.ok) return verdict;
  const end = verdict.head;
  const fail = (problem: "truncated" | "changed", message: string): AuditVerdict => ({
    ...verdict,
    ok: false,
    broken: { seq: end.seq + 1, problem, message },
  });
  if (!head) return fail("truncated", `The file ends after entry ${end.seq}, without its last line.`);
  if (head.seq > end.seq) {
    return fail("truncated", `The file ends with entry ${end.seq}, and had ${head.seq}: its end was cut off.`);
  }
  const isSame = head.seq === end.seq && head.hash === (end.seq === 0 ? GENESIS : end.hash);
  return isSame ? verdict : fail("changed", "The last line is not that of these entries.");
}

/** Reads the head from the last line of an export. */
export async function readAuditHead(lines: AsyncIterable<string>): Promise<AuditHead> {
  let found: AuditHead | undefined;
  for await (const line of lines) {
    const last = lastLine.safeParse(parseJson(line));
    if (last.success) found = { seq: last.data.seq, hash: last.data.hash };
  }
  if (found) return found;
  throw notAnAudit();
}

const notAnAudit = (): RequestError =>
  new RequestError("invalid_request", "This is not a whole export of an audit.", {
    fix: "Name a file that `tandem audit export` wrote.",
  });
