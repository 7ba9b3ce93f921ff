import { useSearch, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useMutation } from "@tanstack/react-query";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ShellCommand } from "../shell-command.tsx";
import { type Memory, useMemories } from "../context-api.ts";
import { MemoryCard } from "./memory-card.tsx";
import { contradictionPairs } from "./contradiction-pairs.ts";
import { RememberBox } from "./remember-box.tsx";
import { undo, useMemoryChange } from "./memory-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { startJob } from "../jobs/job-api.ts";

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

/** Offers to undo the last "forget". */
function UndoForget({ text, proposal, onClose }: { text: string; proposal: string; onClose: () => void }) {
  const undoing = useMemoryChange(undo);
  return (
    <output className="block rounded-lg border border-line bg-raised px-3.5 py-2 text-sm">
      <div className="flex items-center gap-3">
        <span className="min-w-0 flex-1 truncate">
          Forgotten: <span className="text-ink-soft">{text}</span>
        </span>
        <Button
          size="small"
          disabled={undoing.isPending}
          onClick={() => undoing.mutate(proposal, { onSuccess: onClose })}
        >
          Undo
        </Button>
        <Button size="small" look="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <Problem error={undoing.error} className="mt-2" />
    </output>
  );
}

/** Header for the memories of one session: a link to all memories, and a button to read the session now. */
function SessionMemoriesBar({ session }: { session: string }) {
  const navigate = useNavigate();
  const reading = useMutation({
    mutationFn: () => startJob("memory", { session }),
    onSuccess: ({ id }) => navigate({ to: "/context/$", params: { _splat: `jobs/${id}` } }),
  });
  return (
    <div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm text-ink-soft">
        <p>
          Memories from{" "}
          <Link to="/sessions/$session" params={{ session }} className={linkClass}>
            one session
          </Link>
          .{" "}
          <ContextLink path="memory" className={linkClass}>
            Show all
          </ContextLink>
        </p>
        <Button size="small" className="ml-auto" disabled={reading.isPending} onClick={() => reading.mutate()}>
          Extract memories now
        </Button>
      </div>
      <Problem error={reading.error} className="mt-2" />
    </div>
  );
}

/** Two contradicting memories side by side, until the user forgets one. */
function Contradiction({
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
