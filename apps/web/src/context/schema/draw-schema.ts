import type { Graph } from "../context-api.ts";
import type { SchemaLayout } from "./schema-layout.ts";

/** The part of the picture that is shown: `x` and `y` are the centre. */
export interface View {
  x: number;
  y: number;
  zoom: number;
}

export interface Colours {
  surface: string;
  line: string;
  edge: string;
  ink: string;
  faint: string;
  accent: string;
  soft: string;
}

export interface Scene {
  graph: Graph;
  layout: SchemaLayout;
  /** Indexes of the two ends of each join. */
  ends: readonly (readonly [number, number])[];
  /** Indexes of tables that the search has found; undefined without a search. */
  found: ReadonlySet<number> | undefined;
  /** The table under the pointer or chosen in the list. */
  active: number | undefined;
}

const BOX = { width: 124, height: 30 };
/** Below this, names are too small to read and tables are dots. */
const NAMES_FROM = 0.42;
const CLUSTER_NAMES_BELOW = 0.75;

/** Draws what is visible. Small pictures leave out names, so that a thousand tables stay fluent. */
export function drawSchema(
  canvas: CanvasRenderingContext2D,
  size: { width: number; height: number },
  view: View,
  { graph, layout, ends, found, active }: Scene,
  colours: Colours,
): void {
  const { zoom } = view;
  const sx = (x: number): number => (x - view.x) * zoom + size.width / 2;
  const sy = (y: number): number => (y - view.y) * zoom + size.height / 2;
  const isNear = (x: number, y: number): boolean =>
    x > -200 && y > -100 && x < size.width + 200 && y < size.height + 100;
  canvas.clearRect(0, 0, size.width, size.height);
  canvas.lineWidth = 1;
  for (const { x, y, radius } of layout.clusters) {
    canvas.beginPath();
    canvas.arc(sx(x), sy(y), radius * zoom, 0, 2 * Math.PI);
    canvas.fillStyle = colours.soft;
    canvas.fill();
    canvas.strokeStyle = colours.line;
    canvas.stroke();
  }
  const line = (at: number): void => {
    const [a, b] = ends[at]!;
    const [x1, y1, x2, y2] = [sx(layout.x[a]!), sy(layout.y[a]!), sx(layout.x[b]!), sy(layout.y[b]!)];
    const isOutside =
      Math.max(x1, x2) < 0 || Math.max(y1, y2) < 0 || Math.min(x1, x2) > size.width || Math.min(y1, y2) > size.height;
    if (isOutside) return;
    canvas.moveTo(x1, y1);
    canvas.lineTo(x2, y2);
  };
  canvas.beginPath();
  for (let at = 0; at < ends.length; at += 1) line(at);
  canvas.strokeStyle = colours.edge;
  canvas.globalAlpha = 0.35;
  canvas.stroke();
  canvas.globalAlpha = 1;
  const near = new Set<number>();
  if (active !== undefined) {
    canvas.beginPath();
    ends.forEach(([a, b], at) => {
      if (a !== active && b !== active) return;
      near.add(a).add(b);
      line(at);
    });
    canvas.strokeStyle = colours.accent;
    canvas.lineWidth = 2;
    canvas.stroke();
    canvas.lineWidth = 1;
  }
  const hasNames = zoom >= NAMES_FROM;
  canvas.font = `${Math.max(10, 12 * Math.min(zoom, 1.4))}px ui-monospace, monospace`;
  canvas.textBaseline = "middle";
  canvas.textAlign = "center";
  graph.nodes.forEach((node, at) => {
    const [x, y] = [sx(layout.x[at]!), sy(layout.y[at]!)];
    if (!isNear(x, y)) return;
    const isLit = at === active || near.has(at) || found?.has(at) === true;
    canvas.globalAlpha = found && !isLit ? 0.3 : 1;
    canvas.fillStyle = hasNames ? colours.surface : isLit ? colours.accent : colours.faint;
    canvas.strokeStyle = isLit ? colours.accent : colours.edge;
    canvas.beginPath();
    if (hasNames) {
      canvas.roundRect(x - (BOX.width * zoom) / 2, y - (BOX.height * zoom) / 2, BOX.width * zoom, BOX.height * zoom, 5);
      canvas.fill();
      canvas.stroke();
    } else {
      canvas.arc(x, y, isLit ? 4 : Math.max(1.5, 9 * zoom), 0, 2 * Math.PI);
      canvas.fill();
    }
    if (hasNames || isLit) {
      canvas.fillStyle = colours.ink;
      canvas.fillText(
        fitText(node.table, hasNames ? Math.floor(16 / Math.max(1, 0.85 / zoom)) : 24),
        x,
        hasNames ? y : y - 11,
      );
    }
  });
  canvas.globalAlpha = 1;
  if (zoom < CLUSTER_NAMES_BELOW) {
    canvas.font = "600 12px ui-sans-serif, sans-serif";
    for (const { x, y, radius, label, size: count } of layout.clusters) {
      const words = `${label} (${count})`;
      // A label that is wider than its cluster would cover the next one.
      const { width } = canvas.measureText(words);
      if (width > radius * zoom * 2.2) continue;
      const [left, top] = [sx(x), sy(y) - radius * zoom + 12];
      canvas.globalAlpha = 0.8;
      canvas.fillStyle = colours.soft;
      canvas.fillRect(left - width / 2 - 3, top - 8, width + 6, 16);
      canvas.globalAlpha = 1;
      canvas.fillStyle = colours.ink;
      canvas.fillText(words, left, top);
    }
  }
}

const fitText = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The table at a point of the canvas. */
export function tableAt(
  point: { x: number; y: number },
  size: { width: number; height: number },
  view: View,
  layout: SchemaLayout,
): number | undefined {
  const x = (point.x - size.width / 2) / view.zoom + view.x;
  const y = (point.y - size.height / 2) / view.zoom + view.y;
  // A dot is hard to hit, so its surroundings count.
  const [wide, high] = view.zoom >= NAMES_FROM ? [BOX.width / 2, BOX.height / 2] : [10 / view.zoom, 10 / view.zoom];
  let best: number | undefined;
  let nearest = Infinity;
  for (let at = 0; at < layout.x.length; at += 1) {
    const [dx, dy] = [Math.abs(layout.x[at]! - x), Math.abs(layout.y[at]! - y)];
    if (dx > wide || dy > high || dx + dy >= nearest) continue;
    best = at;
    nearest = dx + dy;
  }
  return best;
}

/** Shows everything. */
export function fitView(layout: SchemaLayout, size: { width: number; height: number }): View {
  if (layout.clusters.length === 0) return { x: 0, y: 0, zoom: 1 };
  const left = Math.min(...layout.clusters.map(({ x, radius }) => x - radius));
  const right = Math.max(...layout.clusters.map(({ x, radius }) => x + radius));
  const top = Math.min(...layout.clusters.map(({ y, radius }) => y - radius));
  const bottom = Math.max(...layout.clusters.map(({ y, radius }) => y + radius));
  const zoom = Math.min(size.width / (right - left), size.height / (bottom - top)) * 0.96;
  return { x: (left + right) / 2, y: (top + bottom) / 2, zoom: clampZoom(zoom) };
}

export const clampZoom = (zoom: number): number => Math.min(2.5, Math.max(0.02, zoom));

/** Zooms around a point that stays where it is. */
export function zoomAt(
  view: View,
  factor: number,
  point: { x: number; y: number },
  size: { width: number; height: number },
): View {
  const zoom = clampZoom(view.zoom * factor);
  const [dx, dy] = [point.x - size.width / 2, point.y - size.height / 2];
  return { x: view.x + dx / view.zoom - dx / zoom, y: view.y + dy / view.zoom - dy / zoom, zoom };
}
