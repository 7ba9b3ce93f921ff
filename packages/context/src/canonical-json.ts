import { createHash } from "node:crypto";

/** JSON with sorted keys and without undefined, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export const hashOf = (value: unknown): string => createHash("sha256").update(canonicalJson(value)).digest("hex");
