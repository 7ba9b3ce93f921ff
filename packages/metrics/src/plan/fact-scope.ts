import { nearest } from "@tandem/protocol";
import type { ColumnReference } from "../expression/expression.ts";
import { MetricError } from "../metric-error.ts";
import { tableText } from "../model/catalogued-table.ts";
import { followPath, wayText } from "../model/entity-paths.ts";
import type { Entity, Model, Role } from "../model/model.ts";
import { allOf, compare, type Join, output, type Source, type Sql, type SqlType } from "../sql/sql.ts";

/** The rows of one entity, with the tables that are joined to it by safe steps only: each row stays one row. */
export class FactScope {
  readonly entity: Entity;
  readonly from: Source;
  readonly joins: Join[] = [];
  readonly warnings = new Set<string>();
  readonly #entities: Model["entities"];
  readonly #aliases = new Map<string, string>();
  readonly #prefix: string;

  /** In a subquery, a prefix keeps its aliases apart from those of the outer query. */
  constructor(entities: Model["entities"], entity: Entity, prefix = "") {
    this.#entities = entities;
    this.#prefix = prefix;
    const alias = `${prefix}${entity.name}`;
    this.entity = entity;
    this.from = { kind: "table", table: entity.table, alias };
    this.#aliases.set("", alias);
  }

  get alias(): string {
    return this.from.alias;
  }

  /** A column of this entity, or of one that is reached by safe steps. Throws if there is none. */
  column = ({ path, name }: ColumnReference): Sql => {
    const { entity, alias } = this.reach(path);
    return storedColumn(entity, alias, name);
  };

  /** Joins the tables along a path. Throws `unsafe` if the path can meet several rows. */
  reach(path: readonly string[]): { entity: Entity; alias: string } {
    const found = followPath(this.#entities, this.entity.name, path, "one");
    if (!found) throw this.#unreachable(path);
    if (found.others.length > 0) {
      this.warnings.add(
        `${path.join(".")} is reached from ${this.entity.name} by ${wayText(found.steps)}; another way is ${wayText(found.others[0]!)}.`,
      );
    }
    let alias = this.#aliases.get("")!;
    let key = "";
    for (const step of found.steps) {
      key += `/${stepKey(step)}`;
      alias = this.#aliases.get(key) ?? this.#join(step, alias, key);
    }
    return { entity: this.#entities.get(found.steps.at(-1)?.to ?? this.entity.name)!, alias };
  }

  #join(step: Role, from: string, key: string): string {
    const alias = this.#newAlias(`${this.#prefix}${step.name || step.to}`);
    this.#aliases.set(key, alias);
    const source: Source = { kind: "table", table: this.#entities.get(step.to)!.table, alias };
    this.joins.push({ kind: "left", source, on: joinCondition(this.#entities, step, from, alias) });
    return alias;
  }

  #newAlias(name: string): string {
    const taken = new Set(this.#aliases.values());
    for (let count = 1; ; count += 1) {
      const alias = count === 1 ? name : `${name}_${count}`;
      if (!taken.has(alias)) return alias;
    }
  }

  #unreachable(path: readonly string[]): MetricError {
    const from = this.entity.name;
    const name = path.join(".");
    const many = followPath(this.#entities, from, path, "many");
    if (many) {
      const step = many.steps.find(({ isSafe }) => !isSafe)!;
      return new MetricError(
        "unsafe",
        `A row of ${step.from} can have several rows of ${step.to}, so measures of ${from} cannot be split by ${name}.`,
        `Use a measure of ${step.to}, or filter by ${name} instead.`,
      );
    }
    const names = [...this.#entities.values()].flatMap((entity) => [
      entity.name,
      ...entity.roles.map((role) => role.name),
    ]);
    const unknown = path.find((step) => !names.includes(step));
    if (unknown !== undefined) {
      const meant = nearest(unknown, names.filter(Boolean));
      const known = [...this.#entities.keys()].join(", ");
      return new MetricError(
        "unknown_name",
        `There is no entity or role ${unknown}.`,
        meant ? `Did you mean ${meant}?` : `The entities are ${known}.`,
      );
    }
    return new MetricError(
      "unknown_name",
      `No verified join leads from ${from} to ${name}.`,
      `Accept the join of ${tableText(this.#entities.get(from)!.table)} in the catalogue, and define an entity for its table.`,
    );
  }
}

const stepKey = ({ to, columns, toColumns, isReverse }: Role): string =>
  JSON.stringify([to, columns, toColumns, isReverse]);

export function joinCondition(entities: Model["entities"], step: Role, from: string, to: string): Sql {
  const [fromEntity, toEntity] = [entities.get(step.from)!, entities.get(step.to)!];
  const pairs = step.columns.map((column, at) =>
    compare("=", keyColumn(fromEntity, from, column), keyColumn(toEntity, to, step.toColumns[at]!)),
  );
  if (step.when) {
    const { side, column, equals } = step.when;
    const left = side === "from" ? storedColumn(fromEntity, from, column) : storedColumn(toEntity, to, column);
    const isNumber = left.op === "column" && left.type === "number";
    pairs.push(compare("=", left, { op: isNumber ? "number" : "text", value: equals }));
  }
  return allOf(pairs)!;
}

/** Compared as the database does, so that its index is used; the catalogue's join was verified the same way. */
const keyColumn = ({ table }: Entity, alias: string, name: string): Sql => {
  const column = table.columns.find((known) => known.name === name);
  if (!column) throw missingColumn(table, name);
  return output(alias, name);
};

function storedColumn({ table }: Entity, alias: string, name: string): Sql {
  const column = table.columns.find((known) => known.name === name);
  if (!column) throw missingColumn(table, name);
  const type = sqlType(column.kind, column.type);
  if (!type) {
    throw new MetricError(
      "broken_definition",
      `${tableText(table)}.${name} is of type ${column.type}, which metrics cannot use.`,
    );
  }
  return { op: "column", alias, name, type, kind: column.kind, declared: column.type };
}

function missingColumn(table: Entity["table"], name: string): MetricError {
  const meant = nearest(
    name,
    table.columns.map((column) => column.name),
  );
  return new MetricError(
    "broken_definition",
    `${tableText(table)} has no column ${name}.`,
    `${meant ? `Did you mean ${meant}? ` : ""}Correct the definition, or scan the database again if the column is new.`,
  );
}

function sqlType(kind: string, declared: string): SqlType | undefined {
  switch (kind) {
    case "integer":
    case "decimal":
      return "number";
    case "text":
    case "uuid":
      return "text";
    case "boolean":
      return "boolean";
    case "date":
      return "day";
    case "time":
      // A time of day is no instant.
      return /^time(?!stamp)/i.test(declared) ? undefined : "instant";
    default:
      return undefined;
  }
}
