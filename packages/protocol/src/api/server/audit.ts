import { z } from "zod";
import { AUDIT_KINDS } from "../../words.ts";
import { createdBetween, order, pageOf, pageQuery } from "../page.ts";

export { AUDIT_KINDS } from "../../words.ts";

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** An audit entry. Entries never change; the hash covers the entry and the previous entry's hash. */
export const auditEntry = z
  .object({
    /** Starts at 1, without gaps. */
    seq: z.int().positive(),
    at: z.string(),
    /** A token's name, `local:USER` for a command on this machine, `agent:NAME`, or `tandem`. */
    actor: z.string(),
    kind: z.enum(AUDIT_KINDS),
    session: z.string().nullable(),
    /** Contains no secrets; long values are truncated and represented by their hash. */
    details: z.record(z.string(), z.unknown()),
    /** The hash of the previous entry in hex; 64 zeros for the first. */
    previous: z.string(),
    /** SHA-256 of `previous`, a line feed, and this entry without both hashes as JSON with sorted keys. */
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof auditEntry>;

/** An entry before it is appended. */
export type AuditNote = Pick<AuditEntry, "actor" | "kind" | "details"> & { session?: string | null; at?: string };

/** The end of the audit log. A copy stored elsewhere proves later that no entry was removed. */
export const auditHead = z.object({ seq: z.int().min(0), hash: z.string() }).meta({ id: "AuditHead" });
export type AuditHead = z.infer<typeof auditHead>;

/** The result of verifying the audit log. */
const auditVerdict = z
  .object({
    ok: z.boolean(),
    /** The number of valid entries. */
    entries: z.int(),
    head: auditHead,
    /** The first invalid entry. */
    broken: z
      .object({
        seq: z.int(),
        problem: z.enum(["changed", "missing", "reordered", "truncated", "unreadable"]),
        message: z.string(),
      })
      .nullable(),
  })
  .meta({ id: "AuditVerdict" });
export type AuditVerdict = z.infer<typeof auditVerdict>;

export const auditApi = {
  "audit.list": {
    query: z.strictObject({
      ...pageQuery,
      ...order,
      ...createdBetween,
      session_id: z.string().optional(),
      actor: z.string().optional(),
      kinds: z.array(z.enum(AUDIT_KINDS)).optional(),
    }),
    response: pageOf(auditEntry),
  },
  "audit.export": { download: true as const },
  "audit.verify": {
    body: z
      .strictObject({
        noted: z
          .array(auditHead)
          .max(100)
          .default([])
          .describe("Heads that were recorded earlier: without one, a truncated end cannot be detected."),
      })
      .meta({ id: "AuditVerify" }),
    response: auditVerdict,
  },
};
