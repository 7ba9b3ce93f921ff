import type { ReactNode } from "react";

/** An empty state: what is missing, and what would be shown. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto max-w-md px-4 py-12 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="mt-1 text-ink-soft">{children}</div>}
    </div>
  );
}
