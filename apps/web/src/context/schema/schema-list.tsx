import { Crosshair } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { Graph, GraphEdge } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";

const ROWS = 100;

/** The tables and their joins as text: the same content as the picture. */
export function SchemaList({
  graph,
  shown,
  onFocus,
}: {
  graph: Graph;
  /** Indexes of nodes. */
  shown: readonly number[];
  onFocus: (at: number) => void;
}) {
  const [most, setMost] = useState(ROWS);
  const joins = useMemo(() => Map.groupBy(graph.edges, ({ from }) => from), [graph]);
  return (
    <section
      aria-label="Tables and joins"
      className="relative min-h-0 overflow-y-auto border-line bg-surface max-lg:border-t lg:border-l"
    >
      <ul className="divide-y divide-line">
        {shown.slice(0, most).map((at) => {
          const node = graph.nodes[at]!;
          return (
            <li key={node.id} className="px-3.5 py-2">
              <div className="flex items-center gap-2">
                <ContextLink
                  path={`tables/${node.id}`}
                  className="truncate font-mono text-xs text-accent hover:underline pointer-coarse:py-2"
                >
                  {node.schema}.{node.table}
                </ContextLink>
                <Button
                  look="quiet"
                  size="icon"
                  className="-my-1 ml-auto"
                  aria-label={`Find ${node.table} in the picture`}
                  onClick={() => onFocus(at)}
                >
                  <Crosshair aria-hidden className="size-3.5" />
                </Button>
              </div>
              {(joins.get(node.id) ?? []).map((edge) => (
                <p key={`${edge.to} ${edge.columns.join()}`} className="text-xs text-ink-soft wrap-anywhere">
                  {words(edge)}
                </p>
              ))}
            </li>
          );
        })}
      </ul>
      {shown.length === 0 && <p className="p-4 text-sm text-ink-faint">No table matches.</p>}
      {shown.length > most && (
        <Button look="quiet" size="small" className="m-2" onClick={() => setMost(most + ROWS)}>
          {(shown.length - most).toLocaleString()} more
        </Button>
      )}
    </section>
  );
}

const words = ({ columns, to, to_columns }: GraphEdge): string =>
  `${columns.join(", ")} → ${to.split("/").at(-1)!} (${to_columns.join(", ")})`;
