import type { Memory } from "../context-api.ts";

type MemoryLinks = Pick<Memory, "id" | "contradicts">;

/** Pairs of contradicting memories, each pair once. */
export function contradictionPairs<T extends MemoryLinks>(memories: readonly T[]): [T, T][] {
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  return memories.flatMap((memory) =>
    memory.contradicts.flatMap((id): [T, T][] => {
      const other = byId.get(id);
      // Both memories can name each other; keep the pair only once.
      const isSecond = other?.contradicts.includes(memory.id) === true && memory.id > id;
      return other && !isSecond ? [[memory, other]] : [];
    }),
  );
}
