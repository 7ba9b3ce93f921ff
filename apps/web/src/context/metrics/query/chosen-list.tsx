import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../../ui/button.tsx";

interface ChosenItem {
  key: string;
  label: string;
  /** The name, if the label does not say it. */
  hint?: string | undefined;
  control?: ReactNode;
}

/** The chosen metrics or fields, each with a button that removes it. */
export function ChosenList({
  kind,
  items,
  onRemove,
}: {
  kind: string;
  items: readonly ChosenItem[];
  onRemove: (key: string) => void;
}) {
  if (items.length === 0) return null;
  return (
    <ul className="mb-2 space-y-1">
      {items.map(({ key, label, hint, control }) => (
        <li key={key} className="flex min-h-8 items-center gap-1 rounded-md bg-accent-soft pl-2 text-sm">
          <span className="min-w-0 flex-1 wrap-anywhere" title={key}>
            {label} {hint !== undefined && <span className="font-mono text-xs text-ink-soft">{hint}</span>}
          </span>
          {control}
          <Button look="quiet" size="icon" aria-label={`Remove the ${kind} ${label}`} onClick={() => onRemove(key)}>
            <X aria-hidden className="size-3.5" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
