import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./join-graph.css";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { count } from "../../text/format.ts";
import type { Graph, GraphEdge, GraphNode } from "../context-api.ts";

type TableNode = Node<{ table: GraphNode; isStart: boolean; [key: string]: unknown }, "table">;

/** The picture. Where each table stands was worked out by the server; here nothing is computed. */
export default function JoinGraph({ graph, start }: { graph: Graph; start: string }) {
  return (
    <ReactFlowProvider>
      <Picture graph={graph} start={start} />
    </ReactFlowProvider>
  );
}

function Picture({ graph, start }: { graph: Graph; start: string }) {
  const navigate = useNavigate();
  const nodes = useMemo(() => graph.nodes.map((node) => toNode(node, start, graph.box)), [graph, start]);
  const edges = useMemo(() => graph.edges.map((edge, at) => toEdge(edge, at, graph)), [graph]);
  const { fitView } = useReactFlow();
  useEffect(() => {
    void fitView({ padding: 0.12, maxZoom: 1.1 });
  }, [graph, fitView]);
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={TYPES}
      fitView
      fitViewOptions={{ padding: 0.12, maxZoom: 1.1 }}
      minZoom={0.2}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      onNodeClick={(_, node) =>
        void navigate({ to: "/context/$", params: { _splat: `graph/${node.id}` }, search: true })
      }
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={22} />
      <Controls showInteractive={false} />
    </ReactFlow>
  );
}

function TableBox({ data: { table, isStart } }: NodeProps<TableNode>) {
  return (
    <div
      title={table.description}
      className={`flex h-full flex-col justify-center rounded-lg border bg-surface px-3 ${isStart ? "border-2 border-accent" : "border-line-strong"}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="truncate font-mono text-sm font-medium">{table.table}</span>
      <span className="truncate text-xs text-ink-faint">
        {table.rows === null ? table.schema : `${count(table.rows)} rows`}
        {table.description !== "" && ` · ${table.description}`}
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

const TYPES = { table: TableBox };

const toNode = (table: GraphNode, start: string, box: Graph["box"]): TableNode => ({
  id: table.id,
  type: "table",
  position: { x: table.x, y: table.y },
  width: box.width,
  height: box.height,
  data: { table, isStart: table.id === start },
});

const toEdge = (edge: GraphEdge, at: number, { nodes }: Graph): Edge => {
  const isBack = xOf(nodes, edge.from) >= xOf(nodes, edge.to);
  return {
    id: String(at),
    source: edge.from,
    target: edge.to,
    label: edge.columns.join(", "),
    className: edge.confidence >= 0.9 ? "is-sure" : "is-unsure",
    type: isBack ? "smoothstep" : "default",
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: "var(--line-strong)" },
  };
};

const xOf = (nodes: readonly GraphNode[], id: string): number => nodes.find((node) => node.id === id)?.x ?? 0;
