import type { Graph, GraphEdge } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";
import { Confidence } from "../tables/confidence.tsx";

/** The graph as text: each table with its joins. */
export function JoinSteps({ graph, start }: { graph: Graph; start: string }) {
  const nodes = graph.nodes.toSorted((a, b) => a.distance - b.distance);
  return (
    <section
      aria-label="Tables and joins"
      className="relative min-h-0 overflow-y-auto border-line bg-surface max-lg:border-t lg:border-l"
    >
      <ul className="divide-y divide-line">
        {nodes.map((node) => (
          <li key={node.id} className="px-3.5 py-2">
            <div className="flex items-baseline gap-2">
              <ContextLink
                path={`graph/${node.id}`}
                className={`truncate font-mono text-xs hover:underline pointer-coarse:py-2 ${node.id === start ? "font-semibold text-ink" : "text-accent"}`}
              >
                {node.schema}.{node.table}
              </ContextLink>
              {start !== "" && node.distance > 0 && (
                <span className="ml-auto shrink-0 text-xs text-ink-faint">
                  {node.distance} {node.distance === 1 ? "join" : "joins"} away
                </span>
              )}
            </div>
            {node.description !== "" && <p className="line-clamp-2 text-xs text-ink-faint">{node.description}</p>}
            <ul className="mt-1 space-y-0.5">
              {graph.edges
                .filter(({ from }) => from === node.id)
                .map((edge) => (
                  <li
                    key={`${edge.to}-${edge.columns.join()}`}
                    className="flex items-baseline gap-1.5 text-xs text-ink-soft"
                  >
                    <span className="min-w-0 wrap-anywhere">{words(edge)}</span>
                    <span className="ml-auto shrink-0">
                      <Confidence value={edge.confidence} />
                    </span>
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

const words = ({ columns, to, to_columns }: GraphEdge): string =>
  `${columns.join(", ")} → ${to.split("/").at(-1)!} (${to_columns.join(", ")})`;
