import { z } from "zod";

/** A node of the parser's tree: an object with one key, which names its kind. */
export type SqlNode = Readonly<Record<string, unknown>>;

const object = z.record(z.string(), z.unknown());
const identifier = z.object({ name: z.string() });

const isNode = (value: unknown): value is SqlNode => object.safeParse(value).success;

/** The kind of a node and its content. */
export function kindOf(node: unknown): { kind: string; body: SqlNode } {
  if (!isNode(node)) return { kind: "", body: {} };
  const [entry] = Object.entries(node);
  if (!entry) return { kind: "", body: {} };
  return { kind: entry[0], body: isNode(entry[1]) ? entry[1] : {} };
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const nameOf = (value: unknown): string | undefined => {
  const parsed = identifier.safeParse(value);
  return parsed.success ? parsed.data.name : undefined;
};

/** Nodes directly within another one. Names and positions are left out. */
export function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === "span" || typeof child !== "object" || child === null ? [] : [child],
  );
}

/** Operands of nested ANDs. */
export function conjunctsOf(node: unknown): unknown[] {
  const { kind, body } = kindOf(node);
  if (kind === "and") return [...conjunctsOf(body["left"]), ...conjunctsOf(body["right"])];
  if (kind === "paren") return conjunctsOf(body["this"]);
  return node === undefined || node === null ? [] : [node];
}
