import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, isSeq, type Pair, YAMLMap } from "yaml";

/** Layout of a map. Unlisted keys are one line. */
export interface Shape {
  /** Our keys in order. Others stay unchanged. */
  order: readonly string[];
  /** Keys with a block map as value. */
  maps?: Readonly<Record<string, Shape>>;
  /** Keys with a list of maps; `keyOf` identifies entries. */
  lists?: Readonly<Record<string, { shape: Shape; keyOf: (entry: Record<string, unknown>) => string }>>;
}

/** Updates a document to a value, as far as the shape covers it. Equal nodes are not touched. */
export function syncDocument(document: Document, value: object, shape: Shape): void {
  if (!isMap(document.contents)) document.contents = new YAMLMap() as never;
  const top: YAMLMap = document.contents;
  // Otherwise a map created from nothing would be written in flow style.
  if (top.items.length === 0) top.flow = false;
  syncMap(document, top, value, shape);
}

function syncMap(document: Document, map: YAMLMap, value: object, shape: Shape): void {
  const wanted: Record<string, unknown> = { ...value };
  for (const key of shape.order) {
    const inner = wanted[key];
    if (inner === undefined) {
      map.delete(key);
    } else if (shape.maps?.[key] && typeof inner === "object" && inner !== null) {
      syncMap(
        document,
        blockAt(document, map, key, shape, isMap, () => new YAMLMap()),
        inner,
        shape.maps[key],
      );
    } else if (shape.lists?.[key] && Array.isArray(inner)) {
      syncList(document, map, key, inner, shape);
    } else {
      syncLine(document, map, key, inner, shape);
    }
  }
}

function syncList(document: Document, map: YAMLMap, key: string, wanted: readonly object[], shape: Shape): void {
  const { shape: itemShape, keyOf } = shape.lists![key]!;
  const list = blockAt(document, map, key, shape, isSeq, () => document.createNode([]));
  list.flow = false;
  const before = new Map(
    list.items.flatMap((item): [string, YAMLMap][] => (isMap(item) ? [[keyOf(item.toJS(document)), item]] : [])),
  );
  list.items = wanted.map((entry) => {
    const node = before.get(keyOf({ ...entry })) ?? new YAMLMap();
    syncMap(document, node, entry, itemShape);
    return node;
  });
}

function syncLine(document: Document, map: YAMLMap, key: string, value: unknown, shape: Shape): void {
  const node = map.get(key, true);
  if (node === undefined) {
    insert(document, map, key, document.createNode(value, { flow: true }), shape);
  } else if (!isDeepStrictEqual(node?.toJS(document), value)) {
    // A scalar keeps its node, and so its comment.
    map.set(key, typeof value === "object" ? document.createNode(value, { flow: true }) : value);
  }
}

function blockAt<T>(
  document: Document,
  map: YAMLMap,
  key: string,
  shape: Shape,
  isOne: (node: unknown) => node is T,
  make: () => T,
): T {
  const node: unknown = map.get(key, true);
  if (isOne(node)) return node;
  map.delete(key);
  const made = make();
  insert(document, map, key, made, shape);
  return made;
}

/** Inserts after the nearest preceding key. */
function insert(document: Document, map: YAMLMap, key: string, node: unknown, { order }: Shape): void {
  const pair = document.createPair(key, node) as Pair;
  const rank = order.indexOf(key);
  const place = map.items.findLastIndex((item) => {
    const other = order.indexOf(isScalar(item.key) ? String(item.key.value) : String(item.key));
    return other !== -1 && other < rank;
  });
  map.items.splice(place + 1, 0, pair as never);
}
