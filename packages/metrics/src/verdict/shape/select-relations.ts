import type { Dialect } from "@tandem/connectors";
import { type CataloguedTable, tableText } from "../../model/catalogued-table.ts";
import { readEquality } from "./equality.ts";
import {
  type ColumnUse,
  type Equality,
  NotJudged,
  outputOf,
  type QueryShape,
  type Relation,
  renamed,
  type Repetition,
  sameName,
  tableShape,
  type ValueClass,
} from "./query-shape.ts";
import { childrenOf, conjunctsOf, foldedName, kindOf, listOf, nameOf, type SqlNode } from "../tree/sql-node.ts";
import { tableFunctionShape, valuesShape } from "./table-function.ts";
import { classOfOutput } from "./value-class.ts";

/** Names that a SELECT can refer to. */
export interface Environment {
  readonly dialect: Dialect;
  readonly tables: readonly CataloguedTable[];
  readonly named: ReadonlyMap<string, QueryShape>;
  /** The SELECT around a subquery that may use its columns. */
  readonly outer?: SelectRelations;
  /** Judges a subquery and returns its shape. */
  readonly judge: (query: unknown, environment: Environment) => QueryShape;
}

type JoinKind = Exclude<Relation["join"], "first">;
const JOINS: Readonly<Record<string, { join: JoinKind; isNatural?: boolean }>> = {
  Inner: { join: "inner" },
  Straight: { join: "inner" },
  Left: { join: "left" },
  Right: { join: "right" },
  Full: { join: "full" },
  Outer: { join: "full" },
  Cross: { join: "cross" },
  Implicit: { join: "cross" },
  Natural: { join: "inner", isNatural: true },
  NaturalLeft: { join: "left", isNatural: true },
  NaturalRight: { join: "right", isNatural: true },
  NaturalFull: { join: "full", isNatural: true },
};
const SUBQUERIES = new Set(["subquery", "select", "exists", "union"]);
/** They only filter: no row of the left side is repeated. */
const FILTERING_JOINS = new Set(["Semi", "Anti", "LeftSemi", "LeftAnti"]);

/** A join as it was written: the relations that it added and the equalities of its condition. */
export interface WrittenJoin {
  readonly added: readonly number[];
  readonly kind: JoinKind;
  readonly equalities: readonly Equality[];
  /** USING and NATURAL: a star shows the shared columns once. */
  readonly isMerged: boolean;
}

/** The relations of one SELECT, and the equalities that hold for every row of their join. */
export class SelectRelations {
  readonly relations: Relation[] = [];
  readonly equalities: Equality[] = [];
  readonly joins: WrittenJoin[] = [];
  /** Relations with a condition of their own in WHERE or ON. */
  readonly filtered = new Set<number>();
  readonly #environment: Environment;
  /** Columns of USING and NATURAL, which have one name. */
  readonly #merged: Equality[] = [];
  readonly #origins = new Map<number, Repetition>();

  constructor(select: SqlNode, environment: Environment) {
    this.#environment = environment;
    const from = kindOf({ from: select["from"] }).body;
    listOf(from["expressions"]).forEach((item, at) => {
      const before = this.relations.length;
      this.#add(item, at === 0 ? "first" : "cross");
      if (at > 0) this.joins.push({ added: this.#since(before), kind: "cross", equalities: [], isMerged: false });
    });
    for (const join of listOf(select["joins"])) this.#join(join);
    if (listOf(select["lateral_views"]).length > 0) throw new NotJudged("It has a lateral view.");
    this.#where(kindOf({ where: select["where_clause"] }).body["this"]);
  }

  #since(before: number): number[] {
    return this.relations.map((_, at) => at).slice(before);
  }

  #add(item: unknown, join: Relation["join"]): void {
    const { kind, body } = kindOf(item);
    if (kind === "table") return this.#addTable(body, join);
    if (kind === "subquery") return this.#addSubquery(body, join);
    if (kind === "paren") return this.#add(body["this"], join);
    if (kind === "joined_table") {
      if (body["alias"]) throw new NotJudged("It joins a group of tables under one name.");
      this.#add(body["left"], join);
      for (const inner of listOf(body["joins"])) this.#join(inner);
      return;
    }
    const made = tableFunctionShape(item);
    if (made) return this.#push(made.alias, made.alias, made.shape, join);
    throw new NotJudged(`It reads from ${kind === "alias" || kind === "function" ? "a function" : `a ${kind}`}.`);
  }

  #addTable(body: SqlNode, join: Relation["join"]): void {
    const name = nameOf(body["name"]) ?? "";
    const schema = nameOf(body["schema"]);
    if (body["catalog"]) throw new NotJudged(`It names the database of ${name}.`);
    const alias = nameOf(body["alias"]) ?? name;
    const { dialect, named: queries } = this.#environment;
    const named = schema === undefined ? queries.get(foldedName(body["name"], dialect)) : undefined;
    const found = named ? undefined : this.#table(body);
    const shape = renamed(named ?? tableShape(found!), listOf(body["column_aliases"]).map(nameOf));
    this.#push(alias, found ? tableText(found) : name, shape, join, found);
  }

  #table(body: SqlNode): CataloguedTable {
    const { dialect, tables } = this.#environment;
    // Postgres tells quoted names apart by case.
    const isSame = (known: string, written: unknown): boolean =>
      dialect === "postgres" ? known === foldedName(written, dialect) : sameName(known, nameOf(written) ?? "");
    const found = tables.filter(
      (table) => isSame(table.name, body["name"]) && (!body["schema"] || isSame(table.schema, body["schema"])),
    );
    const text = [nameOf(body["schema"]), nameOf(body["name"])].filter(Boolean).join(".");
    if (found.length === 0) throw new NotJudged(`The table ${text} is not in the catalogue.`);
    if (found.length > 1) throw new NotJudged(`There are ${found.length} tables ${text} in the catalogue.`);
    return found[0]!;
  }

  #addSubquery(body: SqlNode, join: Relation["join"]): void {
    const names = listOf(body["column_aliases"]).map(nameOf);
    const alias = nameOf(body["alias"]) ?? "";
    const label = alias === "" ? "a subquery" : alias;
    const values = valuesShape(body["this"], names);
    if (values) return this.#push(alias, label, values, join);
    const { outer, ...environment } = this.#environment;
    const scope = body["lateral"] === true ? this : outer;
    const shape = this.#environment.judge(body["this"], { ...environment, ...(scope && { outer: scope }) });
    this.#push(alias, label, renamed(shape, names), join);
  }

  #push(alias: string, label: string, shape: QueryShape, join: Relation["join"], table?: CataloguedTable): void {
    if (shape.unclear !== undefined) throw new NotJudged(shape.unclear);
    this.relations.push({ ...shape, alias, label, isNullable: false, join, ...(table && { table }) });
  }

  #join(join: unknown): void {
    const { body } = kindOf({ join });
    const kind = String(body["kind"]);
    if (body["deferred_condition"] === true || Number(body["nesting_group"] ?? 0) !== 0) {
      throw new NotJudged("Its joins are nested without parentheses.");
    }
    // Rows are only filtered, and the columns of the other side cannot be used.
    if (FILTERING_JOINS.has(kind)) return;
    const known = JOINS[kind];
    if (!known) throw new NotJudged(`It has a join of the kind ${kind}.`);
    const before = this.relations.length;
    this.#add(body["this"], known.join);
    const added = this.#since(before);
    const conditions = conjunctsOf(body["on"]);
    const using = listOf(body["using"]).map((name) => nameOf(name) ?? "");
    const shared = this.#shared([...using, ...(known.isNatural ? this.#commonNames(before) : [])], before);
    this.#merged.push(...shared);
    const equalities = [...conditions.flatMap((condition) => readEquality(condition, this)), ...shared];
    const usable = equalities.filter((equality) => holdsAfter(known.join, equality, added));
    this.equalities.push(...usable);
    const isMerged = known.isNatural === true || listOf(body["using"]).length > 0;
    this.joins.push({ added, kind: known.join, equalities: usable, isMerged });
    if (known.join === "left" || known.join === "full") for (const at of added) this.relations[at]!.isNullable = true;
    if (known.join === "right" || known.join === "full") {
      for (let at = 0; at < before; at += 1) this.relations[at]!.isNullable = true;
    }
  }

  #commonNames(before: number): string[] {
    const earlier = new Set(
      this.relations.slice(0, before).flatMap(({ outputs }) => outputs.map(({ name }) => name.toLowerCase())),
    );
    const later = this.relations.slice(before).flatMap(({ outputs }) => outputs.map(({ name }) => name.toLowerCase()));
    return [...new Set(later)].filter((name) => earlier.has(name));
  }

  /** Columns of USING and NATURAL: the first earlier relation that has it, and the new one. */
  #shared(names: readonly string[], before: number): Equality[] {
    const { dialect } = this.#environment;
    return names.map((name) => {
      const has = ({ outputs }: Relation): boolean => outputs.some((output) => sameName(output.name, name));
      const earlier = this.relations.slice(0, before).flatMap((relation, at) => (has(relation) ? [at] : []));
      const later = this.relations.findIndex((relation, at) => at >= before && has(relation));
      if (earlier.length === 0 || later < 0) throw new NotJudged(`The column ${name} of USING is not known.`);
      const [left, right] = [earlier[0]!, later].map((relation) => ({ relation, column: name }));
      const classes = [left!, right!].map((use) =>
        classOfOutput(outputOf(this.relations[use.relation]!, name), dialect),
      );
      if (classes[0] === undefined || classes[0] !== classes[1])
        throw new NotJudged(`USING compares different kinds of ${name}.`);
      return { left: left!, right: right! };
    });
  }

  #where(condition: unknown): void {
    for (const part of conjunctsOf(condition)) {
      const found = readEquality(part, this);
      this.equalities.push(...found);
      for (const { relation } of this.columnsIn(part))
        if (found.length === 0 || found[0]!.right === undefined) this.filtered.add(relation);
    }
  }

  /** Columns of this SELECT in an expression, with those that its subqueries use. */
  columnsIn(node: unknown): ColumnUse[] {
    const { kind, body } = kindOf(node);
    if (SUBQUERIES.has(kind)) return this.#usedBySubquery(body);
    if (kind === "column") return [this.find(body)].filter((found) => found !== undefined);
    if (kind === "star" && body["table"]) return this.#wholeRow(nameOf(body["table"]) ?? "");
    const children = Array.isArray(node) ? node : Object.values(kind === "" ? {} : body);
    return children.flatMap((child) => (typeof child === "object" && child !== null ? this.columnsIn(child) : []));
  }

  #wholeRow(alias: string): ColumnUse[] {
    return this.relations.flatMap((relation, at) =>
      sameName(relation.alias, alias) && relation.outputs[0]
        ? [{ relation: at, column: relation.outputs[0].name }]
        : [],
    );
  }

  /** A name without its table could belong to either query. */
  #usedBySubquery(node: unknown): ColumnUse[] {
    const { kind, body } = kindOf(node);
    if (kind !== "column") return childrenOf(node).flatMap((child) => this.#usedBySubquery(child));
    const name = nameOf(body["name"]) ?? "";
    const qualifier = nameOf(body["table"]);
    const owners = this.relations.flatMap((relation, at) => (outputOf(relation, name) ? [at] : []));
    if (qualifier === undefined && owners.length > 0 && this.relations.length > 1) {
      throw new NotJudged(`A subquery uses the column ${name} without its table.`);
    }
    return owners.flatMap((relation) =>
      qualifier !== undefined && sameName(this.relations[relation]!.alias, qualifier)
        ? [{ relation, column: name }]
        : [],
    );
  }

  /** Whether an aggregate could count a row twice. */
  get canRepeat(): boolean {
    return this.relations.length > 1 || this.relations.some(({ outputs }) => outputs.some(({ repeats }) => repeats));
  }

  /** The same object for each value of a relation. */
  originOf(relation: number, origin: Repetition): Repetition {
    const known = this.#origins.get(relation) ?? origin;
    this.#origins.set(relation, known);
    return known;
  }

  /** The class of a column of this SELECT or of one around it. */
  classOf(column: SqlNode): ValueClass | undefined {
    const use = this.find(column);
    if (!use) return this.#environment.outer?.classOf(column);
    return classOfOutput(outputOf(this.relations[use.relation]!, use.column), this.#environment.dialect);
  }

  /** Undefined for a column of an outer query. */
  find(column: SqlNode): ColumnUse | undefined {
    const name = nameOf(column["name"]) ?? "";
    const qualifier = nameOf(column["table"]);
    const candidates = this.relations.flatMap(({ alias, outputs }, relation) =>
      qualifier === undefined || sameName(alias, qualifier)
        ? outputs.flatMap((output) => (sameName(output.name, name) ? [{ relation, column: output.name }] : []))
        : [],
    );
    if (candidates.length === 1) return candidates[0];
    if (candidates.length > 1) {
      // Columns of USING and NATURAL have one value.
      const [first, ...rest] = candidates as [ColumnUse, ...ColumnUse[]];
      if (qualifier === undefined && rest.every((other) => this.#areEqual(first, other))) return first;
      throw new NotJudged(`The column ${name} is ambiguous.`);
    }
    if (this.#environment.outer?.find(column) ?? this.#environment.outer?.isKnown(column)) return undefined;
    throw new NotJudged(`The column ${qualifier === undefined ? name : `${qualifier}.${name}`} is not known.`);
  }

  isKnown(column: SqlNode): boolean {
    try {
      this.find(column);
      return true;
    } catch {
      return false;
    }
  }

  #areEqual(a: ColumnUse, b: ColumnUse): boolean {
    const isSame = (x: ColumnUse, y: ColumnUse | undefined) =>
      x.relation === y?.relation && sameName(x.column, y.column);
    return this.#merged.some(
      ({ left, right }) =>
        (isSame(left, a) && right && isSame(right, b)) || (isSame(left, b) && right && isSame(right, a)),
    );
  }
}

/**
 * Whether an equality in the condition of a join holds for all of its rows in which the compared relations are there. An outer
 * join keeps rows of its preserved side that do not fulfil the condition.
 */
function holdsAfter(join: JoinKind, { left, right }: Equality, added: readonly number[]): boolean {
  const sides = [left, ...(right ? [right] : [])].map(({ relation }) => added.includes(relation));
  if (join === "inner" || join === "cross") return true;
  if (join === "left") return sides.includes(true);
  if (join === "right") return sides.includes(false);
  return sides.length === 2 && sides[0] !== sides[1];
}
