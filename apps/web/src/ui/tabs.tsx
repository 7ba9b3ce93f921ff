import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

export interface Tab<Name extends string> {
  name: Name;
  label: ReactNode;
  /** Shown after the label. */
  count?: number;
  content?: ReactNode;
}

/** Tabs. Without `content` only the bar is rendered, and the caller renders the view. */
export function Tabs<Name extends string>({
  label,
  tabs,
  value,
  onChange,
  className = "",
}: {
  label: string;
  tabs: readonly Tab<Name>[];
  value: Name;
  onChange: (name: Name) => void;
  className?: string;
}) {
  return (
    <Radix.Root value={value} onValueChange={(name) => onChange(name as Name)} className={className}>
      <Radix.List
        aria-label={label}
        className="flex gap-1 overflow-x-auto shadow-[inset_0_-1px_0_var(--line)] [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.name}
            value={tab.name}
            // There is no panel that it could refer to.
            {...(tab.content === undefined && { "aria-controls": undefined })}
            className="flex items-center gap-1.5 border-b-2 border-transparent px-2.5 py-1.5 text-sm whitespace-nowrap text-ink-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink pointer-coarse:min-h-10"
          >
            {tab.label}
            {tab.count !== undefined && <span className="text-xs text-ink-faint">{tab.count}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(
        (tab) =>
          tab.content !== undefined && (
            <Radix.Content key={tab.name} value={tab.name} className="outline-none">
              {tab.content}
            </Radix.Content>
          ),
      )}
    </Radix.Root>
  );
}
