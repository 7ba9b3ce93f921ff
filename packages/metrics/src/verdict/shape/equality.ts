import type { ColumnUse, Equality, ValueClass } from "./query-shape.ts";
import { kindOf, type SqlNode } from "../tree/sql-node.ts";
import { classOfConstant } from "./value-class.ts";

/** How the columns of a SELECT are found. */
interface Columns {
  find(column: SqlNode): ColumnUse | undefined;
  classOf(column: SqlNode): ValueClass | undefined;
}

interface Side {
  /** Undefined: a constant, or a column of an outer query. */
  readonly use?: ColumnUse;
  /** Undefined for a quoted literal, which takes the type of the other side. */
  readonly valueClass: ValueClass | undefined;
  readonly isColumn: boolean;
  readonly literal?: string;
}

/** `a.x = b.y`, or `a.x = 1`. Anything else, and values of different classes, is no equality. */
export function readEquality(node: unknown, scope: Columns): Equality[] {
  const { kind, body } = kindOf(node);
  if (kind === "paren") return readEquality(body["this"], scope);
  if (kind !== "eq") return [];
  const [left, right] = [readSide(body["left"], scope), readSide(body["right"], scope)];
  if (!left || !right || !areAlike(left, right)) return [];
  const literal = left.literal ?? right.literal;
  const constant = literal === undefined ? {} : { literal };
  if (left.use) return [{ left: left.use, ...(right.use ? { right: right.use } : constant) }];
  return right.use ? [{ left: right.use, ...constant }] : [];
}

function readSide(node: unknown, scope: Columns): Side | undefined {
  const { kind, body } = kindOf(node);
  if (kind === "paren") return readSide(body["this"], scope);
  if (kind === "column") return readColumn(body, scope);
  if (!["literal", "parameter", "placeholder", "boolean"].includes(kind)) return undefined;
  const literal = kind === "literal" ? { literal: `${String(body["literal_type"])} ${String(body["value"])}` } : {};
  return { valueClass: classOfConstant(node), isColumn: false, ...literal };
}

function readColumn(body: SqlNode, scope: Columns): Side {
  const use = scope.find(body);
  return { ...(use && { use }), valueClass: scope.classOf(body), isColumn: true };
}

function areAlike(left: Side, right: Side): boolean {
  const unclear = ({ isColumn, valueClass }: Side): boolean =>
    isColumn && (valueClass === undefined || valueClass === "other");
  if (unclear(left) || unclear(right)) return false;
  if (left.isColumn && right.isColumn) return left.valueClass === right.valueClass;
  const constant = left.isColumn ? right.valueClass : left.valueClass;
  const column = left.isColumn ? left.valueClass : right.valueClass;
  return constant === undefined || constant === column || (constant === "number" && column === "float");
}
