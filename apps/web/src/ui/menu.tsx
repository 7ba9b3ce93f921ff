import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  /** Already formatted, see `shownKey`. */
  keys?: string;
  isBad?: boolean;
  isDisabled?: boolean;
  act: () => void;
}

/** A menu for the button given as child; `"line"` is a separator. */
export function Menu({
  children,
  items,
  label,
  align = "end",
}: {
  children: ReactNode;
  items: readonly (MenuItem | "line")[];
  label: string;
  align?: "start" | "end";
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      {/* Rendered inside the main landmark, so that screen reader users find it there. */}
      <DropdownMenu.Portal container={document.getElementById("main")}>
        <DropdownMenu.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 animate-appear rounded-lg border border-line bg-surface p-1 shadow-float"
        >
          {items.map((item, index) =>
            item === "line" ? (
              <DropdownMenu.Separator key={index} className="my-1 h-px bg-line" />
            ) : (
              <DropdownMenu.Item
                key={item.label}
                disabled={item.isDisabled === true}
                onSelect={item.act}
                className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none select-none data-disabled:pointer-events-none data-disabled:opacity-45 pointer-coarse:py-2.5 ${item.isBad === true ? "text-bad data-highlighted:bg-bad-soft" : "text-ink data-highlighted:bg-raised"}`}
              >
                {item.icon}
                <span>{item.label}</span>
                {item.keys !== undefined && (
                  <kbd className="ml-auto pl-4 font-mono text-xs text-ink-faint">{item.keys}</kbd>
                )}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
