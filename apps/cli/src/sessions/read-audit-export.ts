import { auditEntry, auditHead, type AuditEntry, type AuditHead } from "@tandem/protocol";
import { z } from "zod";

const lastLine = auditHead.extend({ type: z.literal("tandem_audit_head") });

/** Reads an export of the audit: a header, one entry per line, and the head. */
export function readAuditExport(text: string): { head: AuditHead; entries: AsyncIterable<AuditEntry> } {
  const lines = text.trimEnd().split("\n");
  const { seq, hash } = lastLine.parse(JSON.parse(lines.at(-1) ?? ""));
  return { head: { seq, hash }, entries: entriesOf(lines.slice(1, -1)) };
}

async function* entriesOf(lines: readonly string[]): AsyncGenerator<AuditEntry> {
  for (const line of lines) yield auditEntry.parse(JSON.parse(line));
}
