import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { undo, useMemoryChange } from "./memory-api.ts";

/** Offers to undo the last "forget". */
export function UndoForget({ text, proposal, onClose }: { text: string; proposal: string; onClose: () => void }) {
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
