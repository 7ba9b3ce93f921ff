import type { CataloguedTable } from "../model/catalogued-table.ts";
import { checkAggregates } from "./check-aggregates.ts";
import { checkJoins } from "./check-joins.ts";
import { NotJudged, type QueryShape } from "./query-shape.ts";
import { type Environment, SelectRelations } from "./select-relations.ts";
import { selectShape } from "./select-shape.ts";
import { childrenOf, kindOf, listOf, nameOf, type SqlNode } from "./sql-node.ts";
import { type Verdict, type VerdictPart, verdictOf } from "./verdict.ts";

const QUERIES = new Set(["select", "union", "intersect", "except", "subquery"]);

/**
 * Compares a statement with the verified keys and joins of the catalogue. `proven` means that no aggregate counts a row twice,
 * whatever the data is; everything that is not understood is `not_judged`.
 */
export function judgeStatement(tree: unknown, tables: readonly CataloguedTable[]): Verdict {
  const parts: VerdictPart[] = [];
  const outermost = kindOf(tree).body;
  const judge = (query: unknown, environment: Environment): QueryShape => judgeQuery(query, environment, collect);
  // Only the rows of the outermost SELECT can be measured.
  const collect = (select: SqlNode, found: readonly VerdictPart[]): void => {
    parts.push(
      ...found.map(({ measurable, ...part }) => ({
        ...part,
        ...(select === outermost && measurable && { measurable }),
      })),
    );
  };
  try {
    judge(tree, { tables, named: new Map(), judge });
    return verdictOf(parts);
  } catch (error) {
    if (error instanceof NotJudged) return { verdict: "not_judged", parts: [], reason: error.message };
    throw error;
  }
}

type Collect = (select: SqlNode, parts: readonly VerdictPart[]) => void;

function judgeQuery(query: unknown, outer: Environment, collect: Collect): QueryShape {
  const { kind, body } = kindOf(query);
  const environment = withNamed(body, outer);
  switch (kind) {
    case "select":
      return judgeSelect(body, environment, collect);
    case "subquery":
    case "paren": {
      const shape = judgeQuery(body["this"], environment, collect);
      return isOne(body["limit"]) ? { ...shape, keys: [[]] } : shape;
    }
    case "union":
    case "intersect":
    case "except": {
      const left = judgeQuery(body["left"], environment, collect);
      judgeQuery(body["right"], environment, collect);
      const outputs = left.outputs.map(({ name }) => ({ name }));
      if (isOne(body["limit"])) return { outputs, keys: [[]] };
      return { outputs, keys: body["all"] === true ? [] : [outputs.map(({ name }) => name)] };
    }
    default:
      throw new NotJudged(`It is a ${kind || "statement"} and no SELECT.`);
  }
}

function withNamed(body: SqlNode, environment: Environment): Environment {
  const clause = kindOf({ with: body["with"] }).body;
  const ctes = listOf(clause["ctes"]);
  if (ctes.length === 0) return environment;
  if (clause["recursive"] === true && ctes.some((cte) => usesItself(cte)))
    throw new NotJudged("It has a recursive query.");
  const named = new Map(environment.named);
  for (const cte of ctes) {
    const { body: definition } = kindOf({ cte });
    if (listOf(definition["columns"]).length > 0) throw new NotJudged("It renames the columns of a named query.");
    const shape = environment.judge(definition["this"], { ...environment, named: new Map(named) });
    named.set((nameOf(definition["alias"]) ?? "").toLowerCase(), shape);
  }
  return { ...environment, named };
}

function usesItself(cte: unknown): boolean {
  const { body } = kindOf({ cte });
  const name = nameOf(body["alias"])?.toLowerCase();
  const reads = (node: unknown): boolean => {
    const { kind, body: inner } = kindOf(node);
    return (kind === "table" && nameOf(inner["name"])?.toLowerCase() === name) || childrenOf(node).some(reads);
  };
  return reads(body["this"]);
}

function judgeSelect(select: SqlNode, environment: Environment, collect: Collect): QueryShape {
  for (const clause of ["connect", "sample", "into", "top", "distribute_by", "cluster_by"]) {
    if (select[clause]) throw new NotJudged(`It has the clause ${clause}.`);
  }
  const scope = new SelectRelations(select, environment);
  judgeSubqueries(select, { ...environment, outer: scope });
  collect(select, [...checkJoins(scope), ...checkAggregates(select, scope)]);
  return selectShape(select, scope);
}

/** Subqueries in expressions have their own rows and cannot repeat those of this SELECT. */
function judgeSubqueries(select: SqlNode, environment: Environment): void {
  const { from: _from, with: _with, joins, ...clauses } = select;
  const conditions = listOf(joins).map((join) => kindOf({ join }).body["on"]);
  const visit = (node: unknown): void => {
    const { kind, body } = kindOf(node);
    if (QUERIES.has(kind)) return void environment.judge(kind === "subquery" ? body["this"] : node, environment);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const node of [...Object.values(clauses), ...conditions]) visit(node);
}

const isOne = (limit: unknown): boolean => {
  const { kind, body } = kindOf(limit);
  const literal = kind === "this" ? kindOf(body) : kindOf(kind === "" ? undefined : limit);
  return literal.kind === "literal" && literal.body["value"] === "1";
};
