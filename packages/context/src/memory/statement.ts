import { createHash } from "node:crypto";
import type { MemoryFile, MemoryScope } from "./memory-file.ts";

/** A statement without what does not change what it says: case, spaces, quotation marks and its full stop. */
export const plainWords = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[“”„«»"‘’'`*_]/g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/[\s.!?;,:。！？…]+$/u, "")
    .trim();

/** The same for statements that say the same to the same. */
export function statementKey({ text, scope, agent }: { text: string; scope: MemoryScope; agent?: string }): string {
  const parts = [scope, scope === "agent" ? (agent ?? "") : "", plainWords(text)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

export const saysTheSame = (a: Pick<MemoryFile, "text" | "scope" | "agent">, b: typeof a): boolean =>
  statementKey(a) === statementKey(b);
