import { useEffect, useEffectEvent, useState } from "react";
import { nameOf, SEQUENCE_MS } from "./shortcuts.ts";

/** By these one goes through the page, leaves and presses what has the focus, whatever somebody chooses. */
const RESERVED = new Set(["escape", "tab", "shift+tab", "enter", " "]);

/** Hands over the next key, or two that follow each other; what has been pressed of it so far. */
export function useKeyPress(onKey: (key: string) => void, onLeave: () => void): string | undefined {
  const [first, setFirst] = useState<string>();
  const hear = useEffectEvent((event: KeyboardEvent) => {
    const key = nameOf(event);
    if (key === undefined) return;
    // Nobody else is to act on it, not even what closes the dialog.
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
