import { Maximize, Minus, Plus } from "lucide-react";
import { type PointerEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLive } from "../../live/live-value.ts";
import { theme } from "../../state/theme.ts";
import { Button } from "../../ui/button.tsx";
import type { Graph } from "../context-api.ts";
import { clampZoom, type Colours, drawSchema, fitView, tableAt, type View, zoomAt } from "./draw-schema.ts";
import type { SchemaLayout } from "./schema-layout.ts";

/** Pointer movement below this many pixels is a click. */
const CLICK_PX = 5;
const READABLE = 0.9;

/** Draws the schema on a canvas. The list beside it has the same content for keyboards and screen readers. */
export function SchemaCanvas({
  graph,
  layout,
  found,
  focused,
  onOpen,
}: {
  graph: Graph;
  layout: SchemaLayout;
  found: ReadonlySet<number> | undefined;
  /** A table to move to; `at` is its index. */
  focused: { at: number } | undefined;
  onOpen: (at: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [moved, setMoved] = useState<{ layout: SchemaLayout; view: View }>();
  const [hovered, setHovered] = useState<number>();
  const shownTheme = useLive(theme);
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const fitted = useMemo(() => fitView(layout, size), [layout, size]);
  const view = moved?.layout === layout ? moved.view : fitted;
  const setView = useCallback((next: View) => setMoved({ layout, view: next }), [layout]);
  const ends = useMemo(() => {
    const order = new Map(graph.nodes.map(({ id }, at) => [id, at]));
    return graph.edges.flatMap(({ from, to }): [number, number][] => {
      const [a, b] = [order.get(from), order.get(to)];
      return a === undefined || b === undefined ? [] : [[a, b]];
    });
  }, [graph]);

  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    watch.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const change = (): void => setDark(dark.matches);
    dark.addEventListener("change", change);
    return () => {
      watch.disconnect();
      dark.removeEventListener("change", change);
    };
  }, []);

  useEffect(() => {
    if (focused) setView({ x: layout.x[focused.at]!, y: layout.y[focused.at]!, zoom: READABLE });
  }, [focused, layout, setView]);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || size.width === 0) return;
    const ratio = devicePixelRatio;
    const frame = requestAnimationFrame(() => {
      if (element.width !== size.width * ratio || element.height !== size.height * ratio) {
        element.width = size.width * ratio;
        element.height = size.height * ratio;
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const scene = { graph, layout, ends, found, active: hovered ?? focused?.at };
      drawSchema(context, size, view, scene, coloursOf(element));
      element.dataset["drawn"] = `${shownTheme} ${isDark}`;
    });
    return () => cancelAnimationFrame(frame);
  }, [graph, layout, ends, found, hovered, focused, view, size, shownTheme, isDark]);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const turn = (event: WheelEvent): void => {
      // React registers wheel listeners as passive, which cannot stop the page from scrolling.
      event.preventDefault();
      const factor = Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015));
      setView(zoomAt(view, factor, { x: event.offsetX, y: event.offsetY }, size));
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [view, size, setView]);

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const travelled = useRef(0);
  const pointOf = (event: PointerEvent) => ({ x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY });
  const down = (event: PointerEvent<HTMLCanvasElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    if (pointers.current.size === 0) travelled.current = 0;
    pointers.current.set(event.pointerId, pointOf(event));
  };
  const move = (event: PointerEvent): void => {
    const point = pointOf(event);
    const before = pointers.current.get(event.pointerId);
    if (!before) {
      setHovered(tableAt(point, size, view, layout));
      return;
    }
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, point);
    travelled.current += Math.hypot(point.x - before.x, point.y - before.y);
    if (other) {
      const factor =
        Math.hypot(point.x - other.x, point.y - other.y) /
        Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      setView(zoomAt(view, factor, { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 }, size));
    } else {
      setView({ ...view, x: view.x - (point.x - before.x) / view.zoom, y: view.y - (point.y - before.y) / view.zoom });
    }
  };
  const up = (event: PointerEvent): void => {
    pointers.current.delete(event.pointerId);
    if (travelled.current > CLICK_PX || event.type !== "pointerup") return;
    const at = tableAt(pointOf(event), size, view, layout);
    if (at !== undefined) onOpen(at);
  };
  const step = (factor: number): void => setView({ ...view, zoom: clampZoom(view.zoom * factor) });
  return (
    <div ref={place} className="relative h-full min-h-0 overflow-hidden bg-ground">
      <canvas
        ref={canvas}
        aria-hidden
        className={`absolute inset-0 size-full touch-none forced-color-adjust-none ${hovered === undefined ? "cursor-grab" : "cursor-pointer"}`}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
        onPointerLeave={() => setHovered(undefined)}
      />
      <div className="absolute bottom-3 left-3 flex flex-col gap-1">
        <Button size="icon" aria-label="Zoom in" onClick={() => step(1.4)}>
          <Plus aria-hidden className="size-4" />
        </Button>
        <Button size="icon" aria-label="Zoom out" onClick={() => step(1 / 1.4)}>
          <Minus aria-hidden className="size-4" />
        </Button>
        <Button size="icon" aria-label="Show all tables" onClick={() => setView(fitted)}>
          <Maximize aria-hidden className="size-4" />
        </Button>
      </div>
    </div>
  );
}

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim() || style.color;
  return {
    surface: read("surface"),
    line: read("line"),
    edge: read("edge"),
    ink: read("ink"),
    faint: read("ink-faint"),
    accent: read("accent"),
    soft: read("raised"),
  };
}
