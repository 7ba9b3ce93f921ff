import { aggregate, atEdge, counts, isGood, sum } from "./oracle-aggregate.ts";
import { bucket, localTime, monthsBetween, monthsIn, nextMonth, rangeOf } from "./oracle-time.ts";
import type { RandomCase, RandomTable, Reference, Row } from "./random-case.ts";
import type { Cell } from "./scenarios/scenario.ts";

/**
 * Answers a query by walking from each row of a fact along its references, without joins of tables and without SQL. It shares
 * no code with the planner. Undefined: the query has no safe answer.
 */
export function oracle(given: RandomCase): Map<string, Cell[]> | undefined {
  try {
    return new Oracle(given).answer();
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

class NoAnswer extends Error {}

interface Step {
  table: RandomTable;
  reference: Reference;
  isReverse: boolean;
}

/** `[group, period]` to values, where only rows of a fact that count for a measure make a group. */
type Groups = Map<string, { cells: Cell[]; value: Cell }>;

function holds(filter: RandomCase["query"]["where"][number], cell: Cell): boolean {
  if (!("op" in filter)) throw new Error(filter.field);
  if (filter.op === "is_null") return cell === null;
  if (cell === null || !("value" in filter)) return false;
  return filter.op === ">" ? Number(cell) > Number(filter.value) : Number(cell) <= Number(filter.value);
}

class Oracle {
  readonly #given: RandomCase;
  /** Filters of metrics; the others are filters of rows. */
  readonly #having: RandomCase["query"]["where"];

  constructor({ query, ...given }: RandomCase) {
    const isMetric = ({ field }: { field: string }) => given.files.some(({ metrics }) => metrics?.[field]);
    this.#having = query.where.filter(isMetric);
    this.#given = { ...given, query: { ...query, where: query.where.filter((filter) => !isMetric(filter)) } };
  }

  answer(): Map<string, Cell[]> {
    const { metrics, by } = this.#given.query;
    const having = this.#having.map((filter) => ({ filter, metric: this.#metric(filter.field) }));
    const shown = metrics.map((metric) => this.#metric(metric));
    const values = [...shown, ...having.map(({ metric }) => metric)];
    const groups = new Map<string, Cell[]>();
    for (const { current } of values) {
      for (const part of current) for (const [key, { cells }] of part) groups.set(key, cells);
    }
    if (by.length === 0) groups.set("[]", []);
    const kept = [...groups].filter(([key]) => having.every(({ filter, metric }) => holds(filter, metric.at(key))));
    return new Map(kept.map(([key, cells]) => [key, [...cells, ...shown.map(({ at }) => at(key))]]));
  }

  /** Groups of current values, and the value of a metric in a group. */
  #metric(name: string): { current: Groups[]; at: (key: string) => Cell; isZero: boolean } {
    const [entity, kind] = [name.slice(0, name.indexOf("_")), name.slice(name.indexOf("_") + 1)];
    const simple = (of: string, measure: string, back = 0) => {
      const groups = this.#measure(of, measure, back);
      const empty = ["rows", "amounts", "words", "flagged"].includes(measure) ? 0 : null;
      const isZero = !["largest", "smallest", "mean"].includes(measure);
      return {
        current: back === 0 ? [groups] : [],
        at: (key: string): Cell => groups.get(key)?.value ?? empty,
        isZero,
      };
    };
    if (kind === "ratio") {
      const [good, rows] = [simple(entity, "good"), simple(entity, "rows")];
      return {
        current: [...good.current, ...rows.current],
        at: (key) => (rows.at(key) === 0 ? null : Number(good.at(key) ?? 0) / Number(rows.at(key))),
        isZero: false,
      };
    }
    if (kind === "across" || kind === "before") {
      const file = this.#given.files.find((one) => one.entity === entity)!;
      const entry = file.metrics![name]!;
      const text = "derived" in entry ? entry.derived : "";
      const own = simple(entity, "total");
      const otherName = /- (\w+)_total \/ 2/.exec(text)?.[1];
      const other = kind === "before" ? simple(entity, "total", 1) : simple(otherName!, "total");
      const share = kind === "before" ? 1 : 2;
      const isSame = kind === "across" && otherName === entity;
      return {
        current: [...own.current, ...other.current],
        at: (key) => {
          const [left, right] = [own.at(key), other.at(key)];
          if (left === null && right === null) return null;
          if (isSame && left === null) return null;
          return Number(left ?? 0) - Number(right ?? 0) / share;
        },
        isZero: false,
      };
    }
    if (kind === "running") return this.#running(entity, "total", () => true);
    if (kind === "year_to_date")
      return this.#running(entity, "rows", (period, month) => period.slice(0, 4) === month.slice(0, 4));
    if (kind === "trailing") return this.#running(entity, "total", (period, month) => monthsBetween(period, month) < 3);
    return simple(entity, kind);
  }

  #running(entity: string, measure: "total" | "rows", counts: (period: string, month: string) => boolean) {
    const { by, where } = this.#given.query;
    const at = by.findIndex((field) => this.#isOwnTime(field, entity));
    if (at < 0) throw new NoAnswer();
    if (!by[at]!.endsWith(".month")) throw new NoAnswer();
    const own = where.filter((filter) => this.#isOwnTime(filter.field, entity));
    if (own.some((filter) => "op" in filter)) throw new NoAnswer();
    const ranges = own.map((filter) => rangeOf(filter));
    const from =
      ranges
        .map((range) => range.from ?? "")
        .toSorted()
        .at(-1) ?? "";
    const until = ranges.flatMap((range) => (range.until ? [range.until] : [])).toSorted()[0];
    // Only the end of the range cuts rows off; its start only chooses the periods that are shown.
    const rows = this.#rows(entity, measure, 0, true);
    const months =
      from !== "" && until !== undefined
        ? monthsIn(from, until)
        : this.#shownMonths(at).filter((month) => month >= from.slice(0, 7));
    const groups: Groups = new Map();
    for (const month of months) {
      const perGroup = new Map<string, { cells: Cell[]; values: Cell[]; count: number }>();
      for (const { cells, row } of rows) {
        const period = cells[at];
        if (typeof period !== "string" || period.slice(0, 7) > month || !counts(period.slice(0, 7), month)) continue;
        // The entity's own time is the total's time, under any name that the query gives it.
        const shown = cells.map((cell, index) => (this.#isOwnTime(by[index]!, entity) ? `${month}-01` : cell));
        const key = JSON.stringify(shown);
        const group = perGroup.get(key) ?? { cells: shown, values: [], count: 0 };
        group.values.push(row["amount"]!);
        group.count += 1;
        perGroup.set(key, group);
      }
      for (const [key, { cells, values, count }] of perGroup) {
        groups.set(key, { cells, value: measure === "rows" ? count : sum(values) });
      }
    }
    return {
      current: [groups],
      at: (key: string): Cell => groups.get(key)?.value ?? (measure === "rows" ? 0 : null),
      isZero: true,
    };
  }

  /** The months in which one of the query's metrics has rows. */
  #shownMonths(at: number): string[] {
    const names = [...this.#given.query.metrics, ...this.#having.map(({ field }) => field)];
    const rows = names.flatMap((name) => {
      const [entity, kind] = [name.slice(0, name.indexOf("_")), name.slice(name.indexOf("_") + 1)];
      const isRunning = ["running", "year_to_date", "trailing"].includes(kind);
      const file = this.#given.files.find((one) => one.entity === entity)!;
      const entry = file.metrics![name]!;
      const other = "derived" in entry ? /- (\w+)_total \/ 2/.exec(entry.derived)?.[1] : undefined;
      const own = this.#rows(entity, kind === "ratio" ? "rows" : kind, 0, isRunning);
      return other === undefined ? own : [...own, ...this.#rows(other, "total", 0, false)];
    });
    return [...new Set(rows.flatMap(({ cells }) => (typeof cells[at] === "string" ? [cells[at].slice(0, 7)] : [])))];
  }

  #measure(entity: string, measure: string, back: number): Groups {
    if (back > 0 && !this.#given.query.by.some((field) => this.#isOwnTime(field, entity))) {
      if (!this.#given.query.where.some((filter) => this.#isOwnTime(filter.field, entity))) throw new NoAnswer();
    }
    const perGroup = new Map<string, { cells: Cell[]; rows: Row[] }>();
    const zone = this.#table(entity).zone;
    const periods = this.#given.query.by.map((field) => this.#isOwnTime(field, entity));
    for (const { cells, row } of atEdge(measure, this.#rows(entity, measure, back, false), periods, zone)) {
      const key = JSON.stringify(cells);
      const group = perGroup.get(key) ?? { cells, rows: [] };
      group.rows.push(row);
      perGroup.set(key, group);
    }
    return new Map(
      [...perGroup].flatMap(([key, { cells, rows }]) => {
        const value = aggregate(measure, rows, zone);
        return value === undefined ? [] : [[key, { cells, value }] as const];
      }),
    );
  }

  /** Rows of an entity that pass all filters and count for the measure, with their groups. */
  #rows(entity: string, measure: string, back: number, ignoresStart: boolean): { cells: Cell[]; row: Row }[] {
    const table = this.#table(entity);
    const { by, where, segments } = this.#given.query;
    const groups = by.map((field) => this.#reader(entity, field));
    if (back > 0 && by.some((field) => this.#isTime(field) && !this.#isOwnTime(field, entity))) throw new NoAnswer();
    const filters = this.#filters(entity, [
      ...where.map((filter) => ({ field: filter.field, test: this.#test(filter, back, ignoresStart, entity) })),
      ...segments.map((segment) => ({ field: `${segment.split(".")[0]}.word`, whole: isGood })),
    ]);
    return table.rows.flatMap((row) => {
      if (!counts(measure, row) || !filters(row) || (back > 0 && row["at"] === null)) return [];
      const cells = groups.map((read, at) => {
        const cell = read(row);
        if (back === 0 || !this.#isOwnTime(by[at]!, entity)) return cell;
        return typeof cell === "string" ? `${nextMonth(cell.slice(0, 7))}-01` : null;
      });
      return [{ cells, row }];
    });
  }

  #isTime(field: string): boolean {
    return field.startsWith("time") || /\.at(\.|$)/.test(field);
  }

  #isOwnTime(field: string, entity: string): boolean {
    return (
      field === "time" || field.startsWith("time.") || field === `${entity}.at` || field.startsWith(`${entity}.at.`)
    );
  }

  /** Reads a dimension along references that meet at most one row. */
  #reader(entity: string, field: string): (row: Row) => Cell {
    const { owner, name, unit } = parse(field, entity);
    const way = owner === entity ? [] : this.#way(entity, owner, false);
    const zone = this.#table(owner).zone;
    return (row) => {
      const found = way.reduce<Row | undefined>((at, step) => at && this.#follow(step, at)[0], row);
      const cell = found?.[name] ?? null;
      return name === "at" && cell !== null ? bucket(String(cell), unit ?? "minute", zone) : cell;
    };
  }

  #filters(
    entity: string,
    tests: readonly {
      field: string;
      test?: (cell: Cell, zone: string | undefined) => boolean;
      whole?: (row: Row) => boolean;
    }[],
  ) {
    const placed = tests.map((each) => {
      const { owner } = parse(each.field, entity);
      return { ...each, owner, way: owner === entity ? [] : this.#way(entity, owner, true) };
    });
    return (row: Row): boolean => this.#fulfils(row, placed);
  }

  /** Tests behind the same step that can meet several rows must hold on one of these rows. */
  #fulfils(
    row: Row,
    tests: readonly {
      field: string;
      owner: string;
      way: Step[];
      test?: (cell: Cell, zone: string | undefined) => boolean;
      whole?: (row: Row) => boolean;
    }[],
  ): boolean {
    const firstMany = (way: Step[]): number => way.findIndex((step) => !this.#isToOne(step));
    const single = tests.filter(({ way }) => firstMany(way) < 0);
    const isSingle = single.every(({ field, owner, way, test, whole }) => {
      // A missing row has NULL in every column.
      const end = way.reduce<Row | undefined>((at, step) => at && this.#follow(step, at)[0], row) ?? {};
      return whole ? whole(end) : test!(end[nameOf(field)] ?? null, this.#table(owner).zone);
    });
    const groups = Map.groupBy(
      tests.filter(({ way }) => firstMany(way) >= 0),
      ({ way }) =>
        JSON.stringify(way.slice(0, firstMany(way) + 1).map(({ reference, isReverse }) => [reference, isReverse])),
    );
    return (
      isSingle &&
      [...groups.values()].every((group) => {
        const first = group[0]!.way.slice(0, firstMany(group[0]!.way) + 1);
        const ends = first.reduce<Row[]>((rows, step) => rows.flatMap((at) => this.#follow(step, at)), [row]);
        const rest = group.map((each) => ({ ...each, way: each.way.slice(first.length) }));
        return ends.some((end) => this.#fulfils(end, rest));
      })
    );
  }

  #test(filter: RandomCase["query"]["where"][number], back: number, ignoresStart: boolean, entity: string) {
    const isOwn = this.#isOwnTime(filter.field, entity);
    return (cell: Cell, zone: string | undefined): boolean => {
      if (!("op" in filter)) {
        const { from, until } = rangeOf(filter, isOwn ? back : 0);
        if (cell === null) return false;
        const local = localTime(String(cell), zone);
        return (
          (from === undefined || (ignoresStart && isOwn) || local >= from) && (until === undefined || local < until)
        );
      }
      if (filter.op === "is_null") return cell === null;
      if (cell === null) return false;
      if (filter.op === "=") return cell === filter.value;
      if (filter.op === "!=") return cell !== filter.value;
      if (filter.op === "in") return filter.values.includes(cell);
      if (filter.op === "contains") return String(cell).includes(filter.value);
      if (filter.op === "starts_with") return String(cell).startsWith(filter.value);
      throw new Error(filter.op);
    };
  }

  #table(name: string): RandomTable {
    return this.#given.tables.find((table) => table.name === name)!;
  }

  #follow({ reference, isReverse, table }: Step, row: Row): Row[] {
    const key = this.#table(reference.to).key;
    const [from, to] = isReverse ? [key, reference.columns] : [reference.columns, key];
    const rows = isReverse ? table.rows : this.#table(reference.to).rows;
    return rows.filter((other) =>
      from.every((column, at) => (row[column] ?? null) !== null && row[column] === other[to[at]!]),
    );
  }

  #isToOne({ isReverse, table, reference }: Step): boolean {
    return !isReverse || table.unique.includes(reference.role);
  }

  #way(from: string, to: string, mayBeMany: boolean): Step[] {
    const direct = this.#table(from).references.filter((reference) => reference.to === to);
    if (direct.length === 1) return [{ table: this.#table(from), reference: direct[0]!, isReverse: false }];
    for (const many of mayBeMany ? [false, true] : [false]) {
      const ways = this.#ways(from, to, many);
      if (ways.length === 0) continue;
      const length = Math.min(...ways.map((way) => way.length));
      const shortest = ways.filter((way) => way.length === length);
      if (shortest.length > 1) throw new NoAnswer();
      return shortest[0]!;
    }
    throw new NoAnswer();
  }

  #ways(from: string, to: string, mayBeMany: boolean): Step[][] {
    const found: Step[][] = [];
    const walk = (at: string, way: Step[], seen: readonly string[]): void => {
      if (at === to) return void found.push(way);
      const steps = this.#given.tables.flatMap((table) =>
        table.references.flatMap((reference): { step: Step; next: string }[] => [
          ...(table.name === at ? [{ step: { table, reference, isReverse: false }, next: reference.to }] : []),
          ...(reference.to === at ? [{ step: { table, reference, isReverse: true }, next: table.name }] : []),
        ]),
      );
      for (const { step, next } of steps) {
        if (seen.includes(next) || (!mayBeMany && !this.#isToOne(step))) continue;
        walk(next, [...way, step], [...seen, next]);
      }
    };
    walk(from, [], [from]);
    return found;
  }
}

function parse(field: string, entity: string): { owner: string; name: string; unit?: string } {
  const parts = field.split(".");
  if (parts[0] === "time") return { owner: entity, name: "at", unit: parts[1] };
  return { owner: parts[0]!, name: parts[1]!, unit: parts[2] };
}

const nameOf = (field: string): string => parse(field, "").name;
