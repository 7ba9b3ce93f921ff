import { count } from "../../text/format.ts";
import type { Hit } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";
import { pathOfKey } from "../context-route.ts";
import { HIT_KINDS } from "./hit-kinds.tsx";
import { splitMarks } from "./split-marks.ts";

/** Heading marks of Markdown that was joined into one line. */
const HEADING_MARKS = /(?<=^|\s)#{1,6}\s+/g;

export function HitList({ hits }: { hits: readonly Hit[] }) {
  return (
    <>
      <output className="sr-only">{count(hits.length)} found</output>
      <ol className="-mx-2">
        {hits.map((hit) => (
          <li key={hit.key}>
            <HitRow hit={hit} />
          </li>
        ))}
      </ol>
    </>
  );
}

function HitRow({ hit: { key, kind, title, snippet } }: { hit: Hit }) {
  const { icon: Icon, one } = HIT_KINDS[kind] ?? HIT_KINDS["chunk"]!;
  const isCode = kind === "table" || kind === "column" || kind === "value";
  return (
    <ContextLink
      path={pathOfKey(key) ?? ""}
      data-row=""
      className="group flex gap-3 rounded-lg px-2 py-2 hover:bg-raised focus-visible:bg-raised"
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className={`truncate font-medium ${isCode ? "font-mono text-sm" : ""}`}>
            <Highlighted text={title} />
          </span>
          <span className="ml-auto shrink-0 text-xs text-ink-faint">{one}</span>
        </span>
        {snippet !== "" && snippet !== title && (
          <span
            className={`line-clamp-2 text-sm text-ink-soft wrap-anywhere ${kind === "value" ? "font-mono text-xs" : ""}`}
          >
            <Highlighted text={snippet.replaceAll(HEADING_MARKS, "")} />
          </span>
        )}
        <span className="block truncate font-mono text-xs text-ink-faint">{key.slice(key.indexOf(":") + 1)}</span>
      </span>
    </ContextLink>
  );
}

function Highlighted({ text }: { text: string }) {
  return splitMarks(text).map((span, at) =>
    span.isMarked ? (
      <mark key={at} className="rounded-sm bg-wait-soft px-px text-ink">
        {span.text}
      </mark>
    ) : (
      span.text
    ),
  );
}
