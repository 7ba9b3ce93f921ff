import type { ReactNode } from "react";

/** Where there is nothing: that there is nothing, and what would be there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto max-w-md px-4 py-12 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="mt-1 text-ink-soft">{children}</div>}
    </div>
  );
}
