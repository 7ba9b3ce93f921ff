import type { Memory } from "../context-api.ts";
import { MemoryCard } from "./memory-card.tsx";

/** Two contradicting memories side by side, until the user forgets one. */
export function Contradiction({
  pair,
  chosen,
  onForgotten,
}: {
  pair: readonly [Memory, Memory];
  chosen: string;
  onForgotten: (memory: Memory) => (proposal: string | null) => void;
}) {
  return (
    <div className="rounded-xl border border-wait bg-wait-soft p-2">
      <div className="grid gap-2 sm:grid-cols-2">
        {pair.map((memory) => (
          <MemoryCard
            key={memory.id}
            isBeside
            memory={memory}
            isChosen={memory.id === chosen}
            onForgotten={onForgotten(memory)}
          />
        ))}
      </div>
      <p className="px-1.5 pt-1.5 text-sm text-wait">These memories contradict each other. Forget the wrong one.</p>
    </div>
  );
}
