import { createHash } from "node:crypto";

// Imported by the SQLite thread: do not import the protocol package here, its schemas make threads slow to start.

/** Previous hash of the first entry. */
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

/** Hashes the previous hash and the canonical JSON of the entry. */
export function auditHash(previous: string, { seq, at, actor, kind, session, details }: Hashed): string {
  const text = canonicalJson({ seq, at, actor, kind, session, details });
  return createHash("sha256").update(`${previous}\n${text}`).digest("hex");
}

/** JSON with keys sorted at every level, so that equal values give equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value)) ?? "null";

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
