import type { Virtualizer } from "@tanstack/react-virtual";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import type { Row } from "./rows.ts";

/** Shortcuts to jump between turns. */
export function useTurnJump({
  rows,
  list,
  onLeave,
  onEnd,
}: {
  rows: readonly Row[];
  list: Virtualizer<HTMLDivElement, Element>;
  onLeave: () => void;
  onEnd: () => void;
}): void {
  const jump = (direction: 1 | -1) => (): void => {
    const top = list.scrollOffset ?? 0;
    const turns = rows.flatMap((row, index) => (row.type === "user" ? [index] : []));
    const startOf = (index: number): number => list.getOffsetForIndex(index, "start")?.[0] ?? 0;
    const next =
      direction === 1
        ? turns.find((index) => startOf(index) > top + 4)
        : turns.findLast((index) => startOf(index) < top - 4);
    if (next === undefined) {
      if (direction === 1) onEnd();
      return;
    }
    onLeave();
    list.scrollToIndex(next, { align: "start" });
  };
  useShortcuts("Conversation", {
    j: ["Next turn", jump(1)],
    k: ["Previous turn", jump(-1)],
    "]": ["Next turn", jump(1)],
    "[": ["Previous turn", jump(-1)],
    "shift+g": ["Latest", onEnd],
  });
}
