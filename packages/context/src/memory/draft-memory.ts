import type { Evidence } from "../evidence.ts";
import type { Draft } from "../draft.ts";
import type { StoredMemory } from "./memories.ts";
import { type MemoryFile, memoryPath, renderMemory } from "../formats/memory-file.ts";

const whole = (evidence: readonly Evidence[]) => [{ from: 1, to: Infinity, aspect: "memory" as const, evidence }];

/** A new memory, and links in the memories that it contradicts. */
export function draftMemory(memory: MemoryFile, contradicted: readonly StoredMemory[]): Draft[] {
  const evidence = memory.sources;
  const made = { ...memory, contradicts: contradicted.map(({ id }) => id) };
  return [
    { path: memoryPath(memory.id), before: null, after: renderMemory(made), support: whole(evidence) },
    ...contradicted.map((other) =>
      draftChange(other, { contradicts: [...new Set([...other.contradicts, memory.id])] }, evidence),
    ),
  ];
}

/** A changed memory. */
export function draftChange(
  { file, ...memory }: StoredMemory,
  change: Partial<MemoryFile>,
  evidence: readonly Evidence[],
): Draft {
  const after = renderMemory({ ...memory, ...change }, file);
  return { path: memoryPath(memory.id), before: file, after, support: whole(evidence), removal: whole(evidence) };
}

/** Removes a memory and all links to it. */
export function draftForgetting(
  memory: StoredMemory,
  others: readonly StoredMemory[],
  evidence: readonly Evidence[],
): Draft[] {
  const linked = others.filter(({ id, contradicts }) => id !== memory.id && contradicts.includes(memory.id));
  return [
    { path: memoryPath(memory.id), before: memory.file, after: null, support: [], removal: whole(evidence) },
    ...linked.map((other) =>
      draftChange(other, { contradicts: other.contradicts.filter((id) => id !== memory.id) }, evidence),
    ),
  ];
}
