import {
  Background,
  Controls,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import "./join-graph.css";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { approximateCount } from "../../text/format.ts";
import type { Graph, GraphEdge, GraphNode } from "../context-api.ts";
import { EDGE_TYPES, type JoinEdge } from "./join-edges.tsx";

interface TableNodeData extends Record<string, unknown> {
  table: GraphNode;
  isStart: boolean;
}
type TableNode = Node<TableNodeData, "table">;

/** Draws the graph. The server computes the layout. */
export default function JoinGraph({ graph, start }: { graph: Graph; start: string }) {
  const navigate = useNavigate();
  const nodes = useMemo(() => graph.nodes.map((node) => toNode(node, start, graph)), [graph, start]);
  const edges = useMemo(() => graph.edges.map((edge, at) => toEdge(edge, at, graph)), [graph]);
  return (
    <ReactFlow
      // A new key resets the viewport, so that another neighbourhood is shown in full.
      key={graph.nodes.map(({ id }) => id).join()}
      nodes={nodes}
      edges={edges}
      nodeTypes={TYPES}
      edgeTypes={EDGE_TYPES}
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
      <span className="truncate font-mono text-sm font-medium">{table.table}</span>
      <span className="truncate text-xs text-ink-faint">
        {table.rows === null ? table.schema : `${approximateCount(table.rows, table.rows_are)} rows`}
        {table.description !== "" && ` · ${table.description}`}
      </span>
      {HANDLES}
    </div>
  );
}

const HANDLES = [
  <Handle key="1" id="in-left" type="target" position={Position.Left} isConnectable={false} />,
  <Handle key="2" id="in-right" type="target" position={Position.Right} isConnectable={false} />,
  <Handle key="3" id="out-left" type="source" position={Position.Left} isConnectable={false} />,
  <Handle key="4" id="out-right" type="source" position={Position.Right} isConnectable={false} />,
];
const TYPES = { table: TableBox };

const toNode = (table: GraphNode, start: string, { box }: Graph): TableNode => ({
  id: table.id,
  type: "table",
  position: { x: table.x, y: table.y },
  width: box.width,
  height: box.height,
  data: { table, isStart: table.id === start },
});

/** Edges connect the sides that face each other. Within a column both ends are on the right. */
const toEdge = (edge: GraphEdge, at: number, { nodes, box }: Graph): JoinEdge => {
  const from = xOf(nodes, edge.from);
  const to = xOf(nodes, edge.to);
  const kind = edge.from === edge.to ? "loop" : from === to ? "bow" : "default";
  return {
    id: String(at),
    type: kind,
    data: { box },
    source: edge.from,
    target: edge.to,
    sourceHandle: from <= to ? "out-right" : "out-left",
    targetHandle: from < to ? "in-left" : "in-right",
    label: edge.columns.join(", "),
    className: edge.confidence >= 0.9 ? "is-sure" : "is-unsure",
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
  };
};

const xOf = (nodes: readonly GraphNode[], id: string): number => nodes.find((node) => node.id === id)?.x ?? 0;
