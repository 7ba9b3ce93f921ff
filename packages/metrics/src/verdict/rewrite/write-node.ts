import type { Dialect } from "@tandem/connectors";
import { kindOf, listOf, withoutPositions } from "../tree/sql-node.ts";

/** The text of an expression; undefined if it has something that is not known to mean the same when written again. */
export type WriteNode = (node: unknown) => string | undefined;

const INFIX: Readonly<Record<string, string>> = {
  add: "+",
  sub: "-",
  mul: "*",
  div: "/",
  eq: "=",
  neq: "<>",
  lt: "<",
  lte: "<=",
  gt: ">",
  gte: ">=",
  and: "AND",
  or: "OR",
};

export const quoteName = (name: string, dialect: Dialect): string =>
  dialect === "mysql" ? `\`${name.replaceAll("`", "``")}\`` : `"${name.replaceAll('"', '""')}"`;

/** Writes expressions. `replace` has texts for whole subtrees, by `withoutPositions`. */
export function nodeWriter(dialect: Dialect, replace: ReadonlyMap<string, string> = new Map()): WriteNode {
  const write: WriteNode = (node) => replace.get(withoutPositions(node)) ?? writeKind(node);
  return write;

  function writeKind(node: unknown): string | undefined {
    const { kind, body } = kindOf(node);
    const infix = INFIX[kind];
    if (infix !== undefined) return joined(` ${infix} `, [body["left"], body["right"]], "(", ")");
    switch (kind) {
      case "paren":
        return joined("", [body["this"]], "(", ")");
      case "neg":
        return joined("", [body["this"]], "(-", ")");
      case "not":
        return joined("", [body["this"]], "(NOT ", ")");
      case "column": {
        const parts = [body["table"], body["name"]].filter(Boolean).map((part) => identifier(part));
        return parts.join(".");
      }
      case "literal": {
        const value = String(body["value"]);
        if (body["literal_type"] === "number") return /^[\d.]+$/.test(value) ? value : undefined;
        return body["literal_type"] === "string" && !value.includes("\\")
          ? `'${value.replaceAll("'", "''")}'`
          : undefined;
      }
      case "is_null":
        return joined("", [body["this"]], "(", body["not"] === true ? " IS NOT NULL)" : " IS NULL)");
      case "coalesce":
        return joined(", ", listOf(body["expressions"]), "COALESCE(", ")");
      case "round":
      case "abs":
      case "lower":
      case "upper":
        return Object.keys(body).some((key) => key === "decimals" && body[key])
          ? joined(", ", [body["this"], body["decimals"]], `${kind.toUpperCase()}(`, ")")
          : joined("", [body["this"]], `${kind.toUpperCase()}(`, ")");
      case "null_if":
        return joined(", ", [body["this"], body["expression"]], "NULLIF(", ")");
      case "function":
        return typeof body["name"] === "string" && /^\w+$/.test(body["name"]) && body["distinct"] !== true
          ? joined(", ", listOf(body["args"]), `${body["name"]}(`, ")")
          : undefined;
      default:
        return undefined;
    }
  }

  function joined(separator: string, nodes: readonly unknown[], before: string, after: string): string | undefined {
    const texts = nodes.map(write);
    return texts.every((text) => text !== undefined) ? `${before}${texts.join(separator)}${after}` : undefined;
  }

  /** Unquoted names stay unquoted, so that the database folds their case as before. */
  function identifier(part: unknown): string {
    const { name, quoted } = part as { name: string; quoted?: boolean };
    return quoted === true ? quoteName(name, dialect) : name;
  }
}
