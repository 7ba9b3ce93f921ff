import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useContextQuery } from "../context-api.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { JoinSteps } from "./join-steps.tsx";

const JoinGraph = lazy(() => import("./join-graph.tsx"));

/** A larger graph is unreadable. */
const MOST = 40;
const HOPS = ["1", "2"] as const;

/** The tables within one or two joins, as a picture and as a list for screen readers. */
export default function GraphView({ table }: { table: string }) {
  const { hops: requested } = useSearch({ from: "/context/$" });
  const hops = HOPS.find((known) => known === requested) ?? "1";
  const navigate = useNavigate();
  const go = (next: string) =>
    void navigate({
      to: "/context/$",
      params: { _splat: `graph/${table}` },
      search: next === "1" ? {} : { hops: next },
      replace: true,
    });
  useShortcuts("Graph", { h: ["One or two joins away", () => go(hops === "1" ? "2" : "1")] });
  const query = table === "" ? { limit: MOST } : { table, depth: Number(hops), limit: MOST };
  const {
    data: graph,
    error,
    refetch,
  } = useContextQuery("context.graph.retrieve", { query }, { placeholderData: (before) => before });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <h2 className="min-w-0 truncate text-sm font-medium">
          {table === "" ? (
            "The tables with the most joins"
          ) : (
            <>
              Around{" "}
              <ContextLink path={`tables/${table}`} className={`font-mono text-xs ${linkClass}`}>
                {table}
              </ContextLink>
            </>
          )}
        </h2>
        {table !== "" && (
          <fieldset aria-label="How far" className="flex rounded-md border border-line-strong">
            {HOPS.map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={each === hops}
                onClick={() => go(each)}
                className="min-h-7 px-2.5 text-sm text-ink-soft first:rounded-l-md last:rounded-r-md aria-pressed:bg-accent-soft aria-pressed:text-accent pointer-coarse:min-h-10"
              >
                {each === "1" ? "1 join" : "2 joins"}
              </button>
            ))}
          </fieldset>
        )}
        {graph && (
          <span className="ml-auto text-xs text-ink-faint">
            {graph.nodes.length} tables, {graph.edges.length} joins
            {graph.truncated && `; only the nearest ${MOST} are shown`}
          </span>
        )}
      </div>
      <Problem error={error} onRetry={() => void refetch()} className="m-4" />
      {graph && graph.nodes.length === 0 && <Empty title="There are no tables to show" />}
      {graph && graph.nodes.length > 0 && (
        <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-cols-[minmax(0,1fr)_18rem] lg:grid-rows-1">
          <section className="min-h-0 bg-ground" aria-label="A picture of the joins; the list says the same">
            <Suspense fallback={null}>
              <JoinGraph graph={graph} start={table} />
            </Suspense>
          </section>
          <JoinSteps graph={graph} start={table} />
        </div>
      )}
    </div>
  );
}
