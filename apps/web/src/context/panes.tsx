import { ArrowLeft } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { useShortcuts } from "../ui/keyboard/shortcuts.ts";
import { Kbd } from "../ui/kbd.tsx";
import { ContextLink } from "./context-link.tsx";

/** List and detail side by side; on a phone one of them. J and K move through the links of the list. */
export function Panes({
  list,
  label,
  back,
  detail,
  width = "lg:grid-cols-[19rem_minmax(0,1fr)]",
}: {
  list: ReactNode;
  label: string;
  /** Label of the link back to the list, for narrow screens. */
  back: string;
  /** Undefined while nothing is selected. */
  detail: ReactNode;
  width?: string;
}) {
  const pane = useRef<HTMLElement>(null);
  const step = (by: number) => {
    const links = [...(pane.current?.querySelectorAll<HTMLAnchorElement>("a[data-row]") ?? [])];
    const focused = links.indexOf(document.activeElement as HTMLAnchorElement);
    const current = focused === -1 ? links.findIndex((link) => link.ariaCurrent === "page") : focused;
    const next = links[Math.max(0, Math.min(links.length - 1, current + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts(label, { j: ["Next item", () => step(1)], k: ["Previous item", () => step(-1)] });
  const hasDetail = detail !== undefined && detail !== null;
  return (
    <div className={`grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)] ${width}`}>
      <section
        ref={pane}
        aria-label={label}
        className={`relative min-h-0 overflow-y-auto border-line bg-surface lg:border-r ${hasDetail ? "hidden lg:block print:hidden" : ""}`}
      >
        {list}
      </section>
      <div className={`relative min-h-0 overflow-y-auto ${hasDetail ? "" : "hidden lg:block"}`}>
        {hasDetail && (
          <ContextLink
            path={back}
            className="flex min-h-10 items-center gap-1.5 border-b border-line bg-surface px-4 text-sm text-ink-soft lg:hidden"
          >
            <ArrowLeft aria-hidden className="size-4" /> {label}
          </ContextLink>
        )}
        {hasDetail ? (
          detail
        ) : (
          <p className="grid h-full place-items-center p-6 text-ink-faint">
            <span>
              Select an item, or move with <Kbd keys="j" /> and <Kbd keys="k" />.
            </span>
          </p>
        )}
      </div>
    </div>
  );
}

export function PaneRow({
  path,
  isCurrent,
  children,
  search,
}: {
  path: string;
  isCurrent: boolean;
  children: ReactNode;
  search?: Record<string, string>;
}) {
  return (
    <ContextLink
      path={path}
      {...(search && { search })}
      data-row=""
      aria-current={isCurrent ? "page" : undefined}
      className="block border-l-2 border-transparent px-3.5 py-1.5 hover:bg-raised focus-visible:-outline-offset-2 aria-[current]:border-accent aria-[current]:bg-raised pointer-coarse:py-2.5"
    >
      {children}
    </ContextLink>
  );
}
