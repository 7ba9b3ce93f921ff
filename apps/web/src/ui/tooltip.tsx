import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";

/** A word more about the child, which must be able to have the focus and have a name of its own. */
export function Tooltip({ words, keys, children }: { words: ReactNode; keys?: string; children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={350} skipDelayDuration={200}>
      <Radix.Root>
        <Radix.Trigger asChild>{children}</Radix.Trigger>
        <Radix.Portal>
          <Radix.Content
            sideOffset={5}
            collisionPadding={8}
            className="z-50 max-w-72 rounded-md border border-line bg-raised px-2 py-1 text-xs text-ink shadow-float"
          >
            {words}
            {keys !== undefined && <kbd className="ml-2 font-mono text-ink-faint">{keys}</kbd>}
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
    </Radix.Provider>
  );
}
