import { useEffect, useState } from "react";
import type { Graph } from "../context-api.ts";
import type { ClusterBy, layoutSchema, SchemaLayout } from "./schema-layout.ts";

/** Places the tables in a worker. Undefined until it has answered. */
export function useSchemaLayout(graph: Graph | undefined, by: ClusterBy): SchemaLayout | undefined {
  const [made, setMade] = useState<{ graph: Graph; by: ClusterBy; layout: SchemaLayout }>();
  useEffect(() => {
    if (!graph) return;
    const worker = new Worker(new URL("./schema-layout.worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<SchemaLayout>) => setMade({ graph, by, layout: data }));
    const nodes = graph.nodes.map(({ id, connection, schema }) => ({ id, place: `${connection} › ${schema}` }));
    const links = graph.edges.map(({ from, to }) => ({ from, to }));
    worker.postMessage([nodes, links, by] satisfies Parameters<typeof layoutSchema>, []);
    return () => worker.terminate();
  }, [graph, by]);
  return made?.graph === graph && made?.by === by ? made.layout : undefined;
}
