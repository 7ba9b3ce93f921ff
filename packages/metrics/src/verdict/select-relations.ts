import { type CataloguedTable, tableText } from "../model/catalogued-table.ts";
import {
  type ColumnUse,
  type Equality,
  NotJudged,
  type QueryShape,
  type Relation,
  sameName,
  tableShape,
} from "./query-shape.ts";
import { conjunctsOf, kindOf, listOf, nameOf, type SqlNode } from "./sql-node.ts";

/** Names that a SELECT can refer to. */
export interface Environment {
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
  /** The condition has parts that are no equalities of columns. */
  readonly hasOther: boolean;
}

/** The relations of one SELECT, and the equalities that hold for every row of their join. */
export class SelectRelations {
  readonly relations: Relation[] = [];
  readonly equalities: Equality[] = [];
  readonly joins: WrittenJoin[] = [];
  /** Relations with a condition of their own in WHERE or ON. */
  readonly filtered = new Set<number>();
  readonly #environment: Environment;

  constructor(select: SqlNode, environment: Environment) {
    this.#environment = environment;
    const from = kindOf({ from: select["from"] }).body;
    listOf(from["expressions"]).forEach((item, at) => {
      const before = this.relations.length;
      this.#add(item, at === 0 ? "first" : "cross");
      if (at > 0) this.joins.push({ added: this.#since(before), kind: "cross", equalities: [], hasOther: false });
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
    throw new NotJudged(`It reads from ${kind === "alias" || kind === "function" ? "a function" : `a ${kind}`}.`);
  }

  #addTable(body: SqlNode, join: Relation["join"]): void {
    const name = nameOf(body["name"]) ?? "";
    const schema = nameOf(body["schema"]);
    if (listOf(body["column_aliases"]).length > 0) throw new NotJudged(`It renames the columns of ${name}.`);
    const alias = nameOf(body["alias"]) ?? name;
    const named = schema === undefined ? this.#environment.named.get(name.toLowerCase()) : undefined;
    const found = named ? undefined : this.#table(name, schema);
    this.#push(alias, found ? tableText(found) : name, named ?? tableShape(found!), join);
  }

  #table(name: string, schema: string | undefined): CataloguedTable {
    const found = this.#environment.tables.filter(
      (table) => sameName(table.name, name) && (schema === undefined || sameName(table.schema, schema)),
    );
    const text = schema === undefined ? name : `${schema}.${name}`;
    if (found.length === 0) throw new NotJudged(`The table ${text} is not in the catalogue.`);
    if (found.length > 1) throw new NotJudged(`There are ${found.length} tables ${text} in the catalogue.`);
    return found[0]!;
  }

  #addSubquery(body: SqlNode, join: Relation["join"]): void {
    const isLateral = body["lateral"] === true;
    const { outer, ...environment } = this.#environment;
    const scope = isLateral ? this : outer;
    const shape = this.#environment.judge(body["this"], { ...environment, ...(scope && { outer: scope }) });
    const names = listOf(body["column_aliases"]).map(nameOf);
    if (names.length > 0) throw new NotJudged("It renames the columns of a subquery.");
    const alias = nameOf(body["alias"]) ?? "";
    this.#push(alias, alias === "" ? "a subquery" : alias, shape, join);
  }

  #push(alias: string, label: string, shape: QueryShape, join: Relation["join"]): void {
    this.relations.push({ alias, label, outputs: shape.outputs, keys: shape.keys, isNullable: false, join });
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
    const equalities = [
      ...conditions.flatMap((condition) => this.#equality(condition)),
      ...this.#shared(
        listOf(body["using"]).map((name) => nameOf(name) ?? ""),
        before,
      ),
      ...(known.isNatural ? this.#shared(this.#commonNames(before), before) : []),
    ];
    const usable = equalities.filter((equality) => holdsAfter(known.join, equality, added));
    this.equalities.push(...usable);
    this.joins.push({ added, kind: known.join, equalities: usable, hasOther: conditions.length > equalities.length });
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
    return names.map((name) => {
      const has = ({ outputs }: Relation): boolean => outputs.some((output) => sameName(output.name, name));
      const earlier = this.relations.slice(0, before).flatMap((relation, at) => (has(relation) ? [at] : []));
      const later = this.relations.findIndex((relation, at) => at >= before && has(relation));
      if (earlier.length === 0 || later < 0) throw new NotJudged(`The column ${name} of USING is not known.`);
      return { left: { relation: earlier[0]!, column: name }, right: { relation: later, column: name } };
    });
  }

  #where(condition: unknown): void {
    for (const part of conjunctsOf(condition)) {
      const found = this.#equality(part);
      this.equalities.push(...found);
      for (const { relation } of this.columnsIn(part))
        if (found.length === 0 || found[0]!.right === undefined) this.filtered.add(relation);
    }
  }

  /** `a.x = b.y`, or `a.x = 1`. Anything else is no equality. */
  #equality(node: unknown): Equality[] {
    const { kind, body } = kindOf(node);
    if (kind === "paren") return this.#equality(body["this"]);
    if (kind !== "eq") return [];
    const [left, right] = [this.#side(body["left"]), this.#side(body["right"])];
    if (left === undefined || right === undefined || !this.#areAlike(left, right, body)) return [];
    if (left !== "constant") return [{ left, ...(right !== "constant" && { right }) }];
    return right === "constant" ? [] : [{ left: right }];
  }

  /** Text that is compared with a number equals several texts: '1' and '01'. Such a key is not unique for the comparison. */
  #areAlike(left: ColumnUse | "constant", right: ColumnUse | "constant", { left: a, right: b }: SqlNode): boolean {
    const classes = [this.#classOf(left, a), this.#classOf(right, b)].filter((one) => one !== undefined);
    return new Set(classes).size <= 1;
  }

  #classOf(side: ColumnUse | "constant", node: unknown): string | undefined {
    if (side === "constant") {
      const { kind, body } = kindOf(node);
      // A quoted literal takes the type of the column.
      return kind === "literal" && body["literal_type"] === "number" ? "number" : undefined;
    }
    const base = this.relations[side.relation]!.outputs.find(({ name }) => sameName(name, side.column))?.base;
    const column = base?.table.columns.find(({ name }) => name === base.column);
    if (!column) return undefined;
    if (/^citext/i.test(column.type)) return "citext";
    return (
      { integer: "number", decimal: "number", text: "text", uuid: "text", date: "time", time: "time" }[
        column.kind as string
      ] ?? column.kind
    );
  }

  #side(node: unknown): ColumnUse | "constant" | undefined {
    const { kind, body } = kindOf(node);
    if (kind === "paren") return this.#side(body["this"]);
    if (["literal", "parameter", "placeholder", "boolean"].includes(kind)) return "constant";
    if (kind === "column") return this.find(body) ?? "constant";
    return undefined;
  }

  /** Columns of this SELECT in an expression, without those of subqueries. */
  columnsIn(node: unknown): ColumnUse[] {
    const { kind, body } = kindOf(node);
    if (SUBQUERIES.has(kind)) return [];
    if (kind === "column") return [this.find(body)].filter((found) => found !== undefined);
    const children = Array.isArray(node) ? node : Object.values(kind === "" ? {} : body);
    return children.flatMap((child) => (typeof child === "object" && child !== null ? this.columnsIn(child) : []));
  }

  /** Undefined for a column of an outer query. */
  find(column: SqlNode): ColumnUse | undefined {
    const name = nameOf(column["name"]) ?? "";
    const qualifier = nameOf(column["table"]);
    const candidates = this.relations.flatMap(({ alias, outputs }, relation) =>
      (qualifier === undefined || sameName(alias, qualifier)) && outputs.some((output) => sameName(output.name, name))
        ? [{ relation, column: name }]
        : [],
    );
    if (candidates.length === 1) return candidates[0];
    if (candidates.length > 1) {
      // Columns of USING and NATURAL have one value.
      const [first, ...rest] = candidates as [ColumnUse, ...ColumnUse[]];
      if (rest.every((other) => this.#areEqual(first, other))) return first;
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
    return this.equalities.some(
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
  return sides.length === 2 && sides[0] !== sides[1];
}
