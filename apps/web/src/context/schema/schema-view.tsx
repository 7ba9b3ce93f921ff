import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Empty } from "../../ui/empty.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { useServerQuery } from "../../api/use-server-query.ts";
import { SchemaCanvas } from "./schema-canvas.tsx";
import type { ClusterBy } from "./schema-layout.ts";
import { SchemaList } from "./schema-list.tsx";
import { useSchemaLayout } from "./use-schema-layout.ts";

const MOST = 5_000;

/** All tables and joins as one picture with search, zoom and clusters, and as a list. */
export default function SchemaView() {
  const navigate = useNavigate();
  const [by, setBy] = useState<ClusterBy>("joins");
  const [search, setSearch] = useState("");
  const [focused, setFocused] = useState<{ at: number }>();
  const {
    data: graph,
    error,
    refetch,
  } = useServerQuery("context.graph.retrieve", {
    query: { limit: MOST, layout: "none" },
  });
  const layout = useSchemaLayout(graph, by);
  const term = search.trim().toLowerCase();
  const shown = useMemo(() => {
    const all = [...(graph?.nodes.keys() ?? [])];
    if (!graph || term === "") return all;
    return all.filter((at) => {
      const { id, description } = graph.nodes[at]!;
      return `${id} ${description}`.toLowerCase().includes(term);
    });
  }, [graph, term]);
  const found = useMemo(() => (term === "" ? undefined : new Set(shown)), [shown, term]);
  const open = (at: number): void => {
    const node = graph?.nodes[at];
    if (node) void navigate({ to: "/context/$", params: { _splat: `tables/${node.id}` } });
  };
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="m-4" />;
  if (!graph) return null;
  if (graph.nodes.length === 0) return <Empty title="The catalogue has no tables yet">Scan a database first.</Empty>;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-4 py-2">
        <h2 className="sr-only">All tables and joins</h2>
        <form
          className="w-56 max-sm:w-full"
          onSubmit={(event) => {
            event.preventDefault();
            if (shown[0] !== undefined) setFocused({ at: shown[0] });
          }}
        >
          <TextInput
            type="search"
            aria-label="Search tables"
            placeholder="Search tables"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        </form>
        <Select
          isBare
          aria-label="Clusters"
          value={by}
          onChange={setBy}
          options={[
            { value: "joins", label: "Clusters by joins" },
            { value: "schema", label: "Clusters by schema" },
          ]}
        />
        <output className="ml-auto text-xs text-ink-faint">
          {term === "" ? "" : `${shown.length.toLocaleString()} of `}
          {graph.nodes.length.toLocaleString()} tables, {graph.edges.length.toLocaleString()} joins
          {graph.truncated && `; the ${MOST.toLocaleString()} with the most joins`}
        </output>
      </div>
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-cols-[minmax(0,1fr)_18rem] lg:grid-rows-1">
        <section className="min-h-0" aria-label="Picture of all tables; the list has the same content">
          {layout ? (
            <SchemaCanvas graph={graph} layout={layout} found={found} focused={focused} onOpen={open} />
          ) : (
            <p className="p-4 text-sm text-ink-faint">Arranging the tables …</p>
          )}
        </section>
        <SchemaList graph={graph} shown={shown} onFocus={(at) => setFocused({ at })} />
      </div>
    </div>
  );
}
