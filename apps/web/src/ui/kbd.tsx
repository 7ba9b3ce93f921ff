import { useLive } from "../live/live-value.ts";
import { boundKey, customKeys, groups, shownKey } from "./keyboard/shortcuts.ts";

/** A key next to its action. Hidden on touch devices and from screen readers, which have the shortcuts sheet. */
export function Kbd({ keys }: { keys: string }) {
  useLive(groups);
  useLive(customKeys);
  return (
    <kbd
      aria-hidden
      className="hidden rounded border border-current/25 px-1 font-mono text-[0.6875rem] leading-4 md:inline-block"
    >
      {shownKey(boundKey(keys))}
    </kbd>
  );
}
