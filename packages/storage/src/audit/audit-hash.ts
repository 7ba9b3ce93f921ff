import { createHash } from "node:crypto";

// Loaded by the thread that writes, so it imports nothing of the protocol.

/** What stands before the first entry. */
export const GENESIS = "0".repeat(64);

/** An entry without its hashes. */
interface Hashed {
  seq: number;
  at: string;
  actor: string;
  kind: string;
  session: string | null;
  details: unknown;
}

/** The hash of an entry: over the hash before it, and over all that it says, in one form only. */
export function auditHash(previous: string, { seq, at, actor, kind, session, details }: Hashed): string {
  const text = canonicalJson({ seq, at, actor, kind, session, details });
  return createHash("sha256").update(`${previous}\n${text}`).digest("hex");
}

/** JSON whose keys are sorted at every level: equal values are equal texts. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value)) ?? "null";

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
