import { z } from "zod";

/** What an entry is about. What stands before the dot is its subject. */
export const AUDIT_KINDS = [
  // Sessions
  "session.created",
  "session.changed",
  "session.archived",
  "session.deleted",
  "session.forked",
  "session.rewound",
  "session.recovered",
  // What people and clients ask
  "message.sent",
  "message.dropped",
  "turn.interrupted",
  "turn.ended",
  "turn.failed",
  "command.used",
  "shell.run",
  // What agents do
  "call.requested",
  "call.answered",
  "call.resolved",
  "call.finished",
  "call.denied",
  "hook.asked",
  "files.changed",
  // What is spent
  "cost.counted",
  "budget.reached",
  "budget.changed",
  "quota.parked",
  // What may be done
  "mode.changed",
  "model.changed",
  "rule.added",
  "rule.removed",
  "trust.given",
  "trust.revoked",
  "token.created",
  "token.revoked",
  "switch.stopped",
  "switch.released",
  // Worktrees
  "worktree.created",
  "worktree.merged",
  "worktree.applied",
  "worktree.undone",
  "worktree.removed",
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** A line of the audit: who did what, when. Never changed; its hash covers all of it and the hash of the one before. */
export const auditEntry = z
  .object({
    /** From 1, without gaps. */
    seq: z.int().positive(),
    at: z.string(),
    /** A token's name, `local:USER` for a command on this machine, `agent:NAME`, or `tandem`. */
    actor: z.string(),
    kind: z.enum(AUDIT_KINDS),
    session: z.string().nullable(),
    /** Without secrets; long values are cut, and stand there by their hash. */
    details: z.record(z.string(), z.unknown()),
    /** Hex. Of the entry before; 64 zeros for the first. */
    previous: z.string(),
    /** SHA-256 of `previous`, a line feed, and this entry without both hashes as JSON with sorted keys. */
    hash: z.string(),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof auditEntry>;

/** An entry before it has its place. */
export type AuditNote = Pick<AuditEntry, "actor" | "kind" | "details"> & { session?: string | null; at?: string };

/** How far the audit goes. Whoever notes it elsewhere can tell later that nothing was taken away. */
export const auditHead = z.object({ seq: z.int().min(0), hash: z.string() }).meta({ id: "AuditHead" });
export type AuditHead = z.infer<typeof auditHead>;

/** What came of going through the audit. */
export const auditVerdict = z
  .object({
    ok: z.boolean(),
    /** Entries that were read and are as they were. */
    entries: z.int(),
    head: auditHead,
    /** The first one that is not as it should be. */
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
