import type { ReactNode } from "react";

/** A titled part of a query. */
export function QueryPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1.5 text-sm font-medium text-ink-soft">{title}</h2>
      {children}
    </section>
  );
}
