import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { type Memory, useMemories } from "../context-api.ts";
import { Contradiction } from "./contradiction.tsx";
import { UndoForget } from "./undo-forget.tsx";
import { MemoryCard } from "./memory-card.tsx";
import { SessionMemoriesBar } from "./session-memories-bar.tsx";
import { contradictionPairs } from "./contradiction-pairs.ts";
import { RememberBox } from "./remember-box.tsx";

/** Contradictions first, then all memories with their sources. */
export default function MemoryView({ memory: chosen }: { memory: string }) {
  const { session } = useSearch({ from: "/context/$" });
  const memories = useMemories(session);
  const [forgotten, setForgotten] = useState<{ text: string; proposal: string }>();
  const [isExpiredShown, setExpiredShown] = useState(false);
  const all = memories.data?.data ?? [];
  const isKnown = memories.data !== undefined;
  useEffect(() => {
    if (chosen !== "" && isKnown) document.getElementById(chosen)?.scrollIntoView({ block: "center" });
  }, [chosen, isKnown]);
  const pairs = contradictionPairs(all);
  const paired = new Set(pairs.flat().map(({ id }) => id));
  const alone = all.filter(({ id }) => !paired.has(id));
  const expired = alone.filter((each) => each.is_expired && each.id !== chosen);
  const shown = isExpiredShown ? alone : alone.filter((each) => !expired.includes(each));
  const gone = (memory: Memory) => (proposal: string | null) =>
    setForgotten(proposal === null ? undefined : { text: memory.text, proposal });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-4 px-4 py-5 sm:py-7">
        {session === undefined ? <RememberBox /> : <SessionMemoriesBar session={session} />}
        <Problem error={memories.error} onRetry={() => void memories.refetch()} />
        {forgotten && <UndoForget {...forgotten} onClose={() => setForgotten(undefined)} />}
        {pairs.length > 0 && (
          <section aria-labelledby="contradictions" className="space-y-3">
            <h2 id="contradictions" className="text-sm font-medium text-wait">
              {pairs.length === 1 ? "1 contradiction" : `${pairs.length} contradictions`}
            </h2>
            {pairs.map((pair) => (
              <Contradiction key={pair.map(({ id }) => id).join()} pair={pair} onForgotten={gone} chosen={chosen} />
            ))}
          </section>
        )}
        {memories.data?.data.length === 0 &&
          (session === undefined ? (
            <Empty title="No memories yet">
              <p className="mb-3">
                Add one above or in a terminal. Tandem also suggests memories from sessions if{" "}
                <code className="font-mono text-xs">memory.capture</code> is enabled.
              </p>
              <ShellCommand>tandem context remember "Revenue excludes refunds"</ShellCommand>
            </Empty>
          ) : (
            <Empty title="No memories from this session">New memories from agents appear under Proposals first.</Empty>
          ))}
        {shown.length > 0 && (
          <section aria-labelledby="remembered">
            <h2 id="remembered" className="sr-only">
              Memories
            </h2>
            <ul className="space-y-2">
              {shown.map((memory) => (
                <li key={memory.id}>
                  <MemoryCard memory={memory} isChosen={memory.id === chosen} onForgotten={gone(memory)} />
                </li>
              ))}
            </ul>
          </section>
        )}
        {expired.length > 0 && !isExpiredShown && (
          <Button look="quiet" size="small" onClick={() => setExpiredShown(true)}>
            {expired.length} expired
          </Button>
        )}
      </div>
    </div>
  );
}
