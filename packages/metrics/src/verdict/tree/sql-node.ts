import type { Dialect } from "@tandem/connectors";
import { z } from "zod";

/** A node of the parser's tree: an object with one key, which names its kind. */
export type SqlNode = Readonly<Record<string, unknown>>;

const identifier = z.object({ name: z.string(), quoted: z.boolean().optional() });

// Called for every node several times: a schema would take most of the time of a verdict.
const isNode = (value: unknown): value is SqlNode =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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

/** A table's name as the database looks it up. Only Postgres tells quoted names apart by case. */
export function foldedName(value: unknown, dialect: Dialect): string {
  const parsed = identifier.safeParse(value);
  if (!parsed.success) return "";
  const { name, quoted } = parsed.data;
  return dialect === "postgres" && quoted ? name : name.toLowerCase();
}

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

/** Whether a LIMIT lets at most one row through. */
export function isLimitedToOne(limit: unknown): boolean {
  const { body } = kindOf({ limit });
  if (body["percent"] === true) return false;
  const literal = kindOf(body["this"] ?? limit);
  return literal.kind === "literal" && literal.body["value"] === "1";
}

/** A text that is equal for equal trees. */
export const withoutPositions = (node: unknown): string =>
  JSON.stringify(node, (key, value: unknown) => (key === "span" ? undefined : value)) ?? "";
