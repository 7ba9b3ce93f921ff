import type { ReactNode } from "react";

/** A titled part of a definition. */
export function Part({ title, count, children }: { title: string; count?: number; children: ReactNode }) {
  return (
    <section aria-label={title} className="mt-6">
      <h3 className="mb-1.5 text-sm font-medium text-ink-soft">
        {title} {count !== undefined && <span className="text-ink-faint">{count}</span>}
      </h3>
      {children}
    </section>
  );
}
