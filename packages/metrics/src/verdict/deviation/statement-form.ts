import { tableText } from "../../model/catalogued-table.ts";
import { callName } from "../tree/aggregate-calls.ts";
import type { SelectRelations } from "../shape/select-relations.ts";
import { kindOf, listOf } from "../tree/sql-node.ts";
import {
  arithmeticForm,
  columnForm,
  combine,
  compareForms,
  leaf,
  negateForm,
  type NormalForm,
  numberForm,
  textForm,
} from "./normal-form.ts";

const COMPARISONS: Readonly<Record<string, string>> = { eq: "=", neq: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" };
const ARITHMETIC: Readonly<Record<string, string>> = { add: "+", sub: "-", mul: "*", div: "/" };

/** The normal form of an expression of a statement. Undefined if it has something that definitions cannot have. */
export function statementForm(node: unknown, scope: SelectRelations): NormalForm | undefined {
  const { kind, body } = kindOf(node);
  const form = (inner: unknown): NormalForm | undefined => statementForm(inner, scope);
  const both = (): [NormalForm, NormalForm] | undefined => {
    const [a, b] = [form(body["left"]), form(body["right"])];
    return a && b && [a, b];
  };
  const each = (inner: readonly unknown[]): NormalForm[] | undefined => {
    const forms = inner.map(form);
    return forms.every((one) => one !== undefined) ? forms : undefined;
  };
  const operator = COMPARISONS[kind] ?? ARITHMETIC[kind];
  if (operator !== undefined) {
    const operands = both();
    return operands && (COMPARISONS[kind] ? compareForms : arithmeticForm)(operator, ...operands);
  }
  switch (kind) {
    case "paren":
      return form(body["this"]);
    case "column":
      return storedColumn(body, scope);
    case "literal":
      return body["literal_type"] === "number" ? numberForm(String(body["value"])) : textForm(String(body["value"]));
    case "boolean":
      return leaf(String(body["value"]));
    case "null":
      return leaf("null");
    case "neg":
    case "is_null": {
      const operand = form(body["this"]);
      if (body["not"] === true) return operand && combine("not", [combine("is null", [operand])]);
      return operand && combine(kind === "neg" ? "-" : "is null", [operand]);
    }
    case "not": {
      const inner =
        kindOf(body["this"]).kind === "paren" ? kindOf(kindOf(body["this"]).body["this"]) : kindOf(body["this"]);
      const [left, right] = [form(inner.body["left"]), form(inner.body["right"])];
      const turned = left && right ? negateForm(COMPARISONS[inner.kind], left, right) : undefined;
      const operand = form(body["this"]);
      return turned ?? (operand && combine("not", [operand]));
    }
    case "and":
    case "or": {
      const operands = both();
      return operands && combine(kind, operands, true);
    }
    case "in": {
      if (body["query"] || body["unnest"]) return undefined;
      const [operand, values] = [form(body["this"]), each(listOf(body["expressions"]))];
      const inside = operand && values && combine("in", [operand, combine("", values, true)]);
      return inside && (body["not"] === true ? combine("not", [inside]) : inside);
    }
    default:
      return callForm(kind, body, each);
  }
}

function callForm(
  kind: string,
  body: Readonly<Record<string, unknown>>,
  each: (inner: readonly unknown[]) => NormalForm[] | undefined,
): NormalForm | undefined {
  if (kind === "coalesce") {
    const operands = each(listOf(body["expressions"]));
    return operands && combine("coalesce", operands);
  }
  const name = callName(kind, body);
  if (name === undefined || !["abs", "lower", "upper", "trim", "length"].includes(name)) return undefined;
  const operands = each(kind === "function" ? listOf(body["args"]) : [body["this"]]);
  return operands && combine(name, operands);
}

/** Undefined for a table that is read twice: the name would not tell which. */
function storedColumn(body: Readonly<Record<string, unknown>>, scope: SelectRelations): NormalForm | undefined {
  const use = scope.find(body);
  const table = use && scope.relations[use.relation]!.table;
  if (!table || scope.relations.filter((relation) => relation.table === table).length > 1) return undefined;
  return columnForm(`${tableText(table)}.${use.column}`.toLowerCase());
}
