import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search, X } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { useOverview } from "../context-api.ts";
import { FILTERS, HIT_KINDS } from "./hit-kinds.tsx";
import { HitList } from "./hit-list.tsx";
import { SearchStart } from "./search-start.tsx";

const MOST = 50;
const TYPING_MS = 160;

/** Full-text search over the whole context. */
export function SearchView() {
  const { q = "", kind, connection } = useSearch({ from: "/context/$" });
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  const input = useRef<HTMLInputElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const overview = useOverview();

  const narrow = (change: { q?: string; kind?: string | undefined; connection?: string | undefined }) =>
    void navigate({
      to: "/context/$",
      params: { _splat: "" },
      replace: true,
      search: ({ q: before, kind: kindBefore, connection: connectionBefore }) => {
        const next = { q: before, kind: kindBefore, connection: connectionBefore, ...change };
        return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined && value !== ""));
      },
    });
  useEffect(() => {
    if (text === q) return;
    const timer = setTimeout(() => narrow({ q: text }), TYPING_MS);
    return () => clearTimeout(timer);
  });

  const term = useDeferredValue(q.trim());
  const query = {
    query: term,
    limit: MOST,
    connection,
    kinds: FILTERS.filter((name) => name === kind),
  };
  const found = useServerQuery(
    "context.search",
    { query },
    { enabled: term !== "", placeholderData: (before) => before },
  );

  const walk = (by: number): void => {
    const links = [...(results.current?.querySelectorAll<HTMLAnchorElement>("a[data-row]") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement) + by;
    if (at < 0) input.current?.focus();
    else links[Math.min(at, links.length - 1)]?.focus();
  };
  useShortcuts("Search", {
    "/": ["Search the context", () => input.current?.focus()],
    arrowdown: ["Next result", () => walk(1)],
    arrowup: ["Previous result", () => walk(-1)],
  });
  useEffect(() => {
    // Not on touch devices: the on-screen keyboard would cover the page.
    if (matchMedia("(pointer: fine)").matches) input.current?.focus();
  }, []);

  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl px-4 pt-5 pb-10 sm:pt-8">
        <search className="relative block">
          <Search
            aria-hidden
            className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-ink-faint"
          />
          <input
            ref={input}
            type="search"
            aria-label="Search the context"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") results.current?.querySelector<HTMLAnchorElement>("a[data-row]")?.click();
              if (event.key === "ArrowDown") {
                event.preventDefault();
                walk(1);
              }
              if (event.key === "Escape") event.currentTarget.blur();
            }}
            placeholder="Search words, tables, columns, values …"
            autoComplete="off"
            spellCheck={false}
            className="h-11 w-full rounded-lg border border-edge bg-surface pr-10 pl-9 text-[1rem] shadow-sm outline-none placeholder:text-ink-faint focus:border-accent focus:ring-2 focus:ring-accent/30 [&::-webkit-search-cancel-button]:hidden"
          />
          <span className="absolute top-1/2 right-2 -translate-y-1/2 text-ink-faint">
            {text === "" ? (
              <Kbd keys="/" />
            ) : (
              <Button
                look="quiet"
                size="icon"
                aria-label="Clear"
                onClick={() => {
                  setText("");
                  input.current?.focus();
                }}
              >
                <X aria-hidden className="size-4" />
              </Button>
            )}
          </span>
        </search>
        <fieldset className="mt-2.5 flex flex-wrap items-center gap-1.5" aria-label="Only">
          {FILTERS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={kind === name}
              onClick={() => narrow({ kind: kind === name ? undefined : name })}
              className="min-h-7 rounded-full border border-line px-2.5 text-sm text-ink-soft hover:border-line-strong aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent pointer-coarse:min-h-10"
            >
              {HIT_KINDS[name]!.many}
            </button>
          ))}
          {(overview.data?.connections.length ?? 0) > 1 && (
            <Select
              isBare
              aria-label="Connection"
              className="ml-auto"
              value={connection ?? ""}
              onChange={(value) => narrow({ connection: value || undefined })}
              options={[
                { value: "", label: "All connections" },
                ...overview.data!.connections.map(({ name }) => ({ value: name, label: name })),
              ]}
            />
          )}
        </fieldset>
        <Problem error={found.error} onRetry={() => void found.refetch()} className="mt-4" />
        {found.data?.degraded !== undefined && term !== "" && (
          <p className="mt-3 text-sm text-wait">Searched by keywords only: {found.data.degraded}</p>
        )}
        <div ref={results} className="mt-4">
          {term === "" && overview.data && <SearchStart overview={overview.data} />}
          {term !== "" && found.data?.data.length === 0 && !found.isPlaceholderData && (
            <Empty title="No results">Try other or fewer words{kind ? ", or search all kinds" : ""}.</Empty>
          )}
          {term !== "" && found.data && <HitList hits={found.data.data} />}
        </div>
      </div>
    </div>
  );
}
