import { createHash } from "node:crypto";
import { canonicalJson } from "@tandem/protocol/canonical-json";

// Imported by the SQLite thread: do not import the whole protocol package here, its schemas make threads slow to
// start.

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
