import type { Dialect } from "@tandem/connectors";
import type { CataloguedTable } from "../model/catalogued-table.ts";
import { checkAggregates } from "./check-aggregates.ts";
import { checkJoins } from "./check-joins.ts";
import { combinedShape } from "./shape/combined-shape.ts";
import { NotJudged, type QueryShape, renamed } from "./shape/query-shape.ts";
import { type Environment, SelectRelations } from "./shape/select-relations.ts";
import { selectShape } from "./shape/select-shape.ts";
import { childrenOf, foldedName, isLimitedToOne, kindOf, listOf, nameOf, type SqlNode } from "./tree/sql-node.ts";
import { type Verdict, type VerdictPart, verdictOf } from "./verdict.ts";

const QUERIES = new Set(["select", "union", "intersect", "except", "subquery"]);

/** A statement and what was found out about it. */
export interface ExaminedStatement {
  readonly verdict: Verdict;
  /** Its last SELECT, whose rows are the result. Undefined for a set operation. */
  readonly outermost?: { readonly select: SqlNode; readonly scope: SelectRelations };
}

/**
 * Compares a statement with the verified keys and joins of the catalogue. `proven` means that no aggregate counts a row twice,
 * whatever the data is; everything that is not understood is `not_judged`.
 */
export function examineStatement(
  tree: unknown,
  dialect: Dialect,
  tables: readonly CataloguedTable[],
): ExaminedStatement {
  const parts: VerdictPart[] = [];
  const outermost = kindOf(tree).body;
  let last: ExaminedStatement["outermost"];
  const judge = (query: unknown, environment: Environment): QueryShape => judgeQuery(query, environment, collect);
  // Only the rows of the outermost SELECT can be measured.
  const collect = (select: SqlNode, scope: SelectRelations, found: readonly VerdictPart[]): void => {
    if (select === outermost) last = { select, scope };
    parts.push(
      ...found.map(({ measurable, ...part }) => ({
        ...part,
        ...(select === outermost && measurable && { measurable }),
      })),
    );
  };
  try {
    judge(tree, { dialect, tables, named: new Map(), judge });
    return { verdict: verdictOf(parts), ...(last && { outermost: last }) };
  } catch (error) {
    if (error instanceof NotJudged) return { verdict: { verdict: "not_judged", parts: [], reason: error.message } };
    throw error;
  }
}

type Collect = (select: SqlNode, scope: SelectRelations, parts: readonly VerdictPart[]) => void;

function judgeQuery(query: unknown, outer: Environment, collect: Collect): QueryShape {
  const { kind, body } = kindOf(query);
  const environment = withNamed(body, outer);
  switch (kind) {
    case "select":
      return judgeSelect(body, environment, collect);
    case "subquery":
    case "paren": {
      const shape = judgeQuery(body["this"], environment, collect);
      return isLimitedToOne(body["limit"]) ? { ...shape, keys: [[]] } : shape;
    }
    case "union":
    case "intersect":
    case "except": {
      const left = judgeQuery(body["left"], environment, collect);
      const right = judgeQuery(body["right"], environment, collect);
      const shape = combinedShape(left, right, { isUnion: kind === "union", isAll: body["all"] === true });
      return isLimitedToOne(body["limit"]) ? { ...shape, keys: [[]] } : shape;
    }
    default:
      throw new NotJudged(`It is a ${kind || "statement"} and no SELECT.`);
  }
}

function withNamed(body: SqlNode, environment: Environment): Environment {
  const { dialect } = environment;
  const clause = kindOf({ with: body["with"] }).body;
  const ctes = listOf(clause["ctes"]).map((cte) => kindOf({ cte }).body);
  if (ctes.length === 0) return environment;
  const named = new Map(environment.named);
  const later = new Set(ctes.map(({ alias }) => foldedName(alias, dialect)));
  if (later.size < ctes.length) throw new NotJudged("Two named queries have the same name.");
  // SQLite lets every named query read itself and later ones.
  const seesLater = clause["recursive"] === true || dialect === "sqlite";
  for (const definition of ctes) {
    const name = foldedName(definition["alias"], dialect);
    if (seesLater && readsAny(definition["this"], later, dialect)) throw new NotJudged("It has a recursive query.");
    const shape = environment.judge(definition["this"], { ...environment, named: new Map(named) });
    named.set(name, renamed(shape, listOf(definition["columns"]).map(nameOf)));
    later.delete(name);
  }
  return { ...environment, named };
}

function readsAny(node: unknown, names: ReadonlySet<string>, dialect: Dialect): boolean {
  const { kind, body } = kindOf(node);
  if (kind === "table" && !body["schema"] && names.has(foldedName(body["name"], dialect))) return true;
  return childrenOf(node).some((child) => readsAny(child, names, dialect));
}

function judgeSelect(select: SqlNode, environment: Environment, collect: Collect): QueryShape {
  for (const clause of ["connect", "sample", "into", "top", "distribute_by", "cluster_by"]) {
    if (select[clause]) throw new NotJudged(`It has the clause ${clause}.`);
  }
  const scope = new SelectRelations(select, environment);
  judgeSubqueries(select, { ...environment, outer: scope });
  collect(select, scope, [...checkJoins(scope), ...checkAggregates(select, scope)]);
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
