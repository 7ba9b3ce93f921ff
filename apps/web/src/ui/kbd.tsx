import { shownKey } from "../shell/shortcuts.ts";

/** A key beside what it does. Who has no keyboard does not see it, and who listens is told by the shortcuts sheet. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <kbd
      aria-hidden
      className="hidden rounded border border-current/25 px-1 font-mono text-[0.6875rem] leading-4 md:inline-block"
    >
      {shownKey(keys)}
    </kbd>
  );
}
