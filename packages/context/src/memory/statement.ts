import { createHash } from "node:crypto";
import type { MemoryScope } from "../formats/memory-file.ts";

/** Normalises a statement: case, spaces, quotation marks and final full stop. */
export const plainWords = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[“”„«»"‘’'`*_]/g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/[\s.!?;,:。！？…]+$/u, "")
    .trim();

export interface Statement {
  text: string;
  scope: MemoryScope;
  agent?: string;
  user?: string;
}

/** Equal for the same statement with the same scope. */
export function statementKey({ text, scope, agent, user }: Statement): string {
  const whose = scope === "agent" ? agent : scope === "user" ? user : undefined;
  const parts = [scope, whose ?? "", plainWords(text)];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

export const saysTheSame = (a: Statement, b: Statement): boolean => statementKey(a) === statementKey(b);
