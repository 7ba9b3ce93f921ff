import { RotateCcw } from "lucide-react";
import { useState, useEffect, useEffectEvent } from "react";
import { useLive } from "../live/live-value.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import {
  customKeys,
  shortcutActions,
  groups,
  shownKey,
  resetCustomKey,
  setCustomKey,
  nameOf,
  SEQUENCE_MS,
} from "../ui/keyboard/shortcuts.ts";
import { isShortcutsSheetOpen } from "../state/open-dialogs.ts";

/** All active shortcuts, each of which can be reassigned. */
export default function ShortcutsSheet() {
  const all = useLive(groups).filter(({ keys }) => Object.keys(keys).length > 0);
  const chosen = useLive(customKeys);
  const [changing, setChanging] = useState<string>();
  const [taken, setTaken] = useState<string>();
  const begin = (label: string | undefined): void => {
    setChanging(label);
    setTaken(undefined);
  };
  const take = (label: string, key: string): void => {
    const other = all
      .flatMap(({ keys }) => shortcutActions(keys))
      .find((deed) => deed.label !== label && deed.keys.includes(key));
    if (other) return setTaken(`${shownKey(key)} is already used here for “${other.label}”.`);
    setCustomKey(label, key);
    begin(undefined);
  };
  return (
    <Dialog
      onClose={() => isShortcutsSheetOpen.set(false)}
      title="Keyboard shortcuts"
      description="Shortcuts on this page. While you type, only those with Ctrl or ⌘ work. Click one to change it; this browser remembers it."
      size="wide"
      {...(Object.keys(chosen).length > 0 && {
        footer: (
          <Button icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={() => customKeys.set({})}>
            Reset all
          </Button>
        ),
      })}
    >
      <p role="alert" className="text-sm text-bad empty:hidden">
        {taken}
      </p>
      <div className="gap-8 sm:columns-2">
        {all.toReversed().map(({ title, keys }, index) => (
          <section key={`${title}-${index}`} className="mb-5 break-inside-avoid">
            <h3 className="mb-1 text-xs font-medium text-ink-faint">{title}</h3>
            <ul>
              {shortcutActions(keys).map(({ label, keys: own }) => (
                <li key={label} className="flex items-center gap-2 border-b border-line py-0.5 last:border-0">
                  <span className="min-w-0 flex-1">{label}</span>
                  {chosen[label] !== undefined && changing !== label && (
                    <Button
                      look="quiet"
                      size="icon"
                      aria-label={`Reset the key for “${label}”`}
                      onClick={() => resetCustomKey(label)}
                    >
                      <RotateCcw aria-hidden className="size-3.5" />
                    </Button>
                  )}
                  {changing === label ? (
                    <Recorder onKey={(key) => take(label, key)} onLeave={() => begin(undefined)} />
                  ) : (
                    <Keys keys={own} label={label} onClick={() => begin(label)} />
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function Keys({ keys, label, onClick }: { keys: readonly string[]; label: string; onClick: () => void }) {
  const shown = keys.map((key) => shownKey(key).split(" "));
  return (
    <button
      type="button"
      onClick={onClick}
      aria-label={`${shown.map((parts) => parts.join(" then ")).join(" or ")}: change the key for “${label}”`}
      className="-mr-1 flex min-h-10 items-center gap-1 rounded-md px-1 text-xs text-ink-faint hover:bg-raised md:min-h-7"
    >
      {shown.map((parts, at) => (
        <span key={at} className="flex items-center gap-1">
          {at > 0 && "or"}
          {parts.map((part, place) => (
            <kbd key={place} className="rounded border border-line-strong bg-raised px-1.5 font-mono text-xs text-ink">
              {part}
            </kbd>
          ))}
        </span>
      ))}
    </button>
  );
}

/** Records the next key or sequence of two keys. */
function Recorder({ onKey, onLeave }: { onKey: (key: string) => void; onLeave: () => void }) {
  const first = useKeyPress(onKey, onLeave);
  return (
    <output className="flex min-h-10 items-center text-xs text-accent md:min-h-7">
      {first === undefined ? "Press a key, or Esc" : `${shownKey(first)} …`}
    </output>
  );
}

/** Reserved for navigation and activation; they cannot be reassigned. */
const RESERVED = new Set(["escape", "tab", "shift+tab", "enter", " "]);

/** Captures the next key or sequence of two keys. Returns the keys pressed so far. */
function useKeyPress(onKey: (key: string) => void, onLeave: () => void): string | undefined {
  const [first, setFirst] = useState<string>();
  const hear = useEffectEvent((event: KeyboardEvent) => {
    const key = nameOf(event);
    if (key === undefined) return;
    // No other handler may react, not even the dialog that closes on Escape.
    event.preventDefault();
    event.stopImmediatePropagation();
    if (key === "escape") return onLeave();
    if (RESERVED.has(key)) return;
    if (first === undefined) setFirst(key);
    else onKey(`${first} ${key}`);
  });
  useEffect(() => {
    addEventListener("keydown", hear, true);
    return () => removeEventListener("keydown", hear, true);
  }, []);
  const finish = useEffectEvent((key: string) => {
    setFirst(undefined);
    onKey(key);
  });
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => finish(first), SEQUENCE_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return first;
}
