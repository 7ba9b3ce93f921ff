import { useEffect, useEffectEvent, useState } from "react";
import { nameOf, SEQUENCE_MS } from "./shortcuts.ts";

/** Reserved for navigation and activation; they cannot be reassigned. */
const RESERVED = new Set(["escape", "tab", "shift+tab", "enter", " "]);

/** Captures the next key or sequence of two keys. Returns the keys pressed so far. */
export function useKeyPress(onKey: (key: string) => void, onLeave: () => void): string | undefined {
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
