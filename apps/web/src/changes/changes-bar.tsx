import type { SessionDiff } from "@tandem/protocol";
import { Columns2, GitCompare, GitFork, History, Rows2 } from "lucide-react";
import { Button } from "../ui/button.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { Select } from "../ui/select.tsx";
import type { Turn } from "./changes-api.ts";
import { LineCount } from "../diff/line-count.tsx";
import type { DiffLayout } from "../diff/diff-view.tsx";
import { turnLabel } from "./turn-list.tsx";

export function ChangesBar({
  turns,
  turn,
  diff,
  layout,
  canSplit,
  onTurn,
  onLayout,
  onRewind,
  onFork,
  onCompare,
}: {
  turns: readonly Turn[];
  turn: number | undefined;
  diff: SessionDiff | undefined;
  layout: DiffLayout;
  canSplit: boolean;
  onTurn: (turn: number | undefined) => void;
  onLayout: (layout: DiffLayout) => void;
  onRewind: () => void;
  onFork: () => void;
  onCompare: () => void;
}) {
  const isSplit = layout === "split";
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3 py-1.5">
      <Select
        aria-label="Turn to show"
        className="max-w-[60vw] lg:hidden"
        isBare
        value={turn === undefined ? "" : String(turn)}
        onChange={(value) => onTurn(value === "" ? undefined : Number(value))}
        options={[
          { value: "", label: "Whole session" },
          ...turns.map((one) => ({ value: String(one.turn), label: turnLabel(one) })),
        ]}
      />
      <h2 className="sr-only">Changes</h2>
      {diff && (
        <p className="flex items-center gap-2 text-sm text-ink-soft">
          {diff.files.length === 1 ? "1 file" : `${diff.files.length} files`}
          <LineCount added={diff.added} removed={diff.removed} />
        </p>
      )}
      <div className="ml-auto flex items-center gap-1.5">
        {canSplit && (
          <Button
            size="small"
            look="quiet"
            aria-pressed={isSplit}
            onClick={() => onLayout(isSplit ? "unified" : "split")}
          >
            {isSplit ? <Rows2 aria-hidden className="size-4" /> : <Columns2 aria-hidden className="size-4" />}
            {isSplit ? "Unified" : "Side by side"} <Kbd keys="u" />
          </Button>
        )}
        <Button size="small" look="quiet" title="Compare with another session" onClick={onCompare}>
          <GitCompare aria-hidden className="size-4" /> <span className="max-sm:sr-only">Compare …</span>{" "}
          <Kbd keys="c" />
        </Button>
        <Button size="small" disabled={turns.length === 0} onClick={onFork}>
          <GitFork aria-hidden className="size-4" /> Fork … <Kbd keys="f" />
        </Button>
        <Button size="small" disabled={turns.length === 0} onClick={onRewind}>
          <History aria-hidden className="size-4" /> Rewind … <Kbd keys="r" />
        </Button>
      </div>
    </div>
  );
}
