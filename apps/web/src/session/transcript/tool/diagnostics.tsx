import type { PartOf } from "@tandem/protocol";
import { escapeHidden } from "../../../text/escape-hidden.ts";

/** Errors that an edit added, as a language server reports them. */
export function Diagnostics({ found }: { found: NonNullable<PartOf<"tool">["diagnostics"]> }) {
  const { items, total, server } = found;
  return (
    <section className="border-t border-line bg-bad-soft px-3 py-1.5 text-xs" aria-label="New errors">
      <p className="text-bad">
        {total === 1 ? "1 new error" : `${total} new errors`} <span className="text-ink-soft">({server})</span>
      </p>
      <ul className="mt-1 space-y-1">
        {items.map(({ path, line, column, message, code, source }, index) => (
          <li key={index} className="wrap-anywhere">
            <span className="font-mono text-ink-soft">
              {escapeHidden(path)}:{line}:{column}
            </span>{" "}
            <span className="whitespace-pre-wrap">{escapeHidden(message)}</span>{" "}
            <span className="text-ink-soft">{[source, code].filter(Boolean).join(" ")}</span>
          </li>
        ))}
      </ul>
      {total > items.length && <p className="mt-1 text-ink-soft">{total - items.length} more</p>}
    </section>
  );
}
