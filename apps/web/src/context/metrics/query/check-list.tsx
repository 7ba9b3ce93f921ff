import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { TextInput } from "../../../ui/field.tsx";
import { Popover } from "../../../ui/popover.tsx";

export interface CheckItem {
  value: string;
  label: string;
  hint?: string | undefined;
  /** Other words that find it. */
  words?: string | undefined;
  isDisabled?: boolean;
}

/** With more items a search field is faster than reading. */
const SEARCHED_FROM = 8;
const SHOWN = 200;

/** A button that opens a list of checkboxes with a search field. */
export function CheckList({
  label,
  items,
  chosen,
  onToggle,
  isDisabled = false,
}: {
  label: string;
  items: readonly CheckItem[];
  chosen: readonly string[];
  onToggle: (value: string) => void;
  isDisabled?: boolean;
}) {
  return (
    <Popover
      label={label}
      align="start"
      trigger={
        <Button size="small" disabled={isDisabled}>
          <Plus aria-hidden className="size-3.5" /> {label}
        </Button>
      }
    >
      <Items label={label} items={items} chosen={chosen} onToggle={onToggle} />
    </Popover>
  );
}

function Items({
  label,
  items,
  chosen,
  onToggle,
}: {
  label: string;
  items: readonly CheckItem[];
  chosen: readonly string[];
  onToggle: (value: string) => void;
}) {
  const [typed, setTyped] = useState("");
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items.filter(({ value, label: shown, words: other }) => {
    const text = `${value} ${shown} ${other ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      {items.length >= SEARCHED_FROM && (
        <TextInput
          type="search"
          aria-label={`Filter: ${label}`}
          placeholder="Filter"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="mb-2"
        />
      )}
      <fieldset className="-mx-1 max-h-72 overflow-y-auto">
        <legend className="sr-only">{label}</legend>
        {found.slice(0, SHOWN).map(({ value, label: shown, hint, isDisabled = false }) => (
          <label
            key={value}
            className={`flex items-start gap-2 rounded-md px-1.5 py-1 pointer-coarse:py-2.5 ${isDisabled ? "text-ink-faint" : "cursor-pointer hover:bg-raised"}`}
          >
            <input
              type="checkbox"
              className="mt-1 shrink-0 accent-accent"
              aria-label={shown}
              checked={chosen.includes(value)}
              disabled={isDisabled}
              onChange={() => onToggle(value)}
            />
            <span className="min-w-0 flex-1">
              <span className="block wrap-anywhere">{shown}</span>
              {hint !== undefined && <span className="block text-xs text-ink-faint wrap-anywhere">{hint}</span>}
            </span>
          </label>
        ))}
        {found.length === 0 && <p className="px-1.5 py-1 text-ink-faint">No matches.</p>}
        {found.length > SHOWN && (
          <p className="px-1.5 py-1 text-xs text-ink-faint">{found.length - SHOWN} more. Type to find them.</p>
        )}
      </fieldset>
    </>
  );
}
