import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
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
  useShortcuts("Graph", { h: ["Toggle between one and two joins", () => go(hops === "1" ? "2" : "1")] });
  const query = { table, depth: Number(hops), limit: MOST };
  const {
    data: graph,
    error,
    refetch,
  } = useServerQuery("context.graph.retrieve", { query }, { placeholderData: (before) => before });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <h2 className="min-w-0 truncate text-sm font-medium">
          Around{" "}
          <ContextLink path={`tables/${table}`} className={`font-mono text-xs ${linkClass}`}>
            {table}
          </ContextLink>
        </h2>
        <fieldset aria-label="Distance" className="flex rounded-md border border-line-strong">
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
        <ContextLink path="graph" className={`text-sm ${linkClass}`}>
          All tables
        </ContextLink>
        {graph && (
          <span className="ml-auto text-xs text-ink-faint">
            {graph.nodes.length} tables, {graph.edges.length} joins
            {graph.truncated && `; showing the nearest ${MOST}`}
          </span>
        )}
      </div>
      <Problem error={error} onRetry={() => void refetch()} className="m-4" />
      {graph && graph.nodes.length === 0 && <Empty title="No tables to show" />}
      {graph && graph.nodes.length > 0 && (
        <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-cols-[minmax(0,1fr)_18rem] lg:grid-rows-1">
          <section className="min-h-0 bg-ground" aria-label="Join graph; the list has the same content">
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
