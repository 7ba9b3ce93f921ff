import type { Dialect } from "@tandem/connectors";
import { type MetricsFile, metricsFile } from "../model/metrics-file.ts";
import { type MetricQuery, metricQuery } from "@tandem/protocol";
import { type Cell, prepare, type ScenarioTable } from "./scenarios/scenario.ts";

export type Row = Record<string, Cell>;

/** A reference of one table to the key of another. */
export interface Reference {
  role: string;
  columns: readonly string[];
  to: string;
}

export interface RandomTable {
  name: string;
  key: readonly string[];
  references: readonly Reference[];
  /** Roles whose columns are unique in this table. */
  unique: readonly string[];
  zone: string | undefined;
  rows: readonly Row[];
}

export interface RandomCase {
  tables: readonly RandomTable[];
  files: readonly MetricsFile[];
  query: MetricQuery;
}

const WORDS = ["a", "A", "b", "ä", "a ", "x'y", "back\\slash", "50%_|*[x]?"];
/** With characters that mean something in the patterns of a dialect. */
const PARTS = ["a", "A", "ä", "a ", "'", "\\", "%", "_", "|", "*", "[", "?", "50%_"];
const ZONES = [undefined, undefined, "Europe/Berlin", "America/New_York", "Asia/Kolkata"];

/** The same numbers on every machine. */
export function randomSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function randomCase(seed: number): RandomCase {
  const random = randomSource(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const chance = (share: number): boolean => random() < share;

  const tables: RandomTable[] = [];
  const count = 2 + below(5);
  for (let at = 0; at < count; at += 1) tables.push(randomTable(at));
  const files = tables.map(fileOf);
  return { tables, files, query: randomQuery() };

  function randomTable(at: number): RandomTable {
    const name = `e${at}`;
    const key = chance(0.25) ? ["k1", "k2"] : ["id"];
    const targets = tables.filter(() => chance(0.5));
    if (targets.length > 0 && chance(0.3)) targets.push(targets[0]!);
    const references = targets.map((target, index): Reference => ({
      role: `r${at}_${index}`,
      columns: target.key.map((column) => `r${index}_${column}`),
      to: target.name,
    }));
    if (chance(0.2)) references.push({ role: `self${at}`, columns: key.map((column) => `up_${column}`), to: name });
    const total = chance(0.1) ? 0 : 1 + below(25);
    const unique = references.filter(({ to }) => to !== name && chance(0.12)).map(({ role }) => role);
    const keys = Array.from({ length: total }, (_, index) => keyOf(key, index));
    const rows = keys.map((own, index): Row => ({
      ...own,
      ...Object.assign({}, ...references.map((reference) => referenceCells(reference, keys, unique, index))),
      amount: chance(0.15) ? null : chance(0.05) ? 4_000_000_000 : below(200) - 60,
      word: chance(0.15) ? null : pick(WORDS),
      flag: chance(0.15) ? null : chance(0.5),
      at: chance(0.1) ? null : randomTime(),
    }));
    return { name, key, references, unique, zone: pick(ZONES), rows };
  }

  function keyOf(key: readonly string[], index: number): Row {
    return key.length === 1 ? { id: index + 1 } : { k1: index % 3, k2: Math.floor(index / 3) };
  }

  function referenceCells(
    { role, columns, to }: Reference,
    own: readonly Row[],
    unique: readonly string[],
    index: number,
  ): Row {
    const targets: readonly Row[] = tables.find(({ name }) => name === to)?.rows ?? own;
    const isUnique = unique.includes(role);
    const target = isUnique ? targets[index] : targets.length > 0 && !chance(0.2) ? pick(targets) : undefined;
    const key = tables.find(({ name }) => name === to)?.key ?? Object.keys(own[0] ?? {});
    const isOrphan = !isUnique && chance(0.05);
    return Object.fromEntries(
      columns.map((column, at) => [
        column,
        isOrphan ? 900 + below(3) : (target?.[key[at]!] ?? (isUnique ? 1_000 + index : null)),
      ]),
    );
  }

  function randomTime(): string {
    // Around the changes of daylight saving time and month ends, more often than elsewhere.
    const near = [
      "2025-03-30 00:30:00",
      "2025-10-26 00:30:00",
      "2025-12-31 23:30:00",
      "2026-02-28 22:59:59",
      "2026-03-08 06:59:59",
    ];
    const base = chance(0.4)
      ? Date.parse(`${pick(near).replace(" ", "T")}Z`)
      : Date.UTC(2024, 10, 1) + below(500 * 86_400) * 1_000;
    return new Date(base + below(5) * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
  }

  function fileOf(table: RandomTable): MetricsFile {
    const { name, key, references, zone } = table;
    const isSingle = ({ to }: Reference): boolean =>
      to !== name && references.filter((other) => other.to === to).length === 1;
    const named = references.filter((reference) => !isSingle(reference) || chance(0.5));
    const metric = (suffix: string, measure: object) => [`${name}_${suffix}`, measure] as const;
    const others = tables.map((other) => `${other.name}_total`);
    return metricsFile.parse({
      entity: name,
      table: name,
      grain: key,
      roles: Object.fromEntries(named.map(({ role, columns }) => [role, columns])),
      time: "at",
      dimensions: { word: null, flag: null, at: { time: "minute", ...(zone && { zone }) } },
      segments: { good: "word in ('a', 'b') and amount > 0" },
      measures: {
        total: { sum: "amount" },
        rows: { count: "rows" },
        amounts: { count: "amount" },
        words: { count_distinct: "word" },
        largest: { max: "amount" },
        smallest: { min: "amount" },
        mean: { average: "amount" },
        good: { sum: "amount * 2", where: "good" },
        flagged: { count: "rows", where: "flag" },
        latest: { sum: "amount", over: { time: "last" } },
        latest_each: { sum: "amount", over: { time: "last", per: ["word"] } },
        first: { sum: "amount", over: { time: "first" } },
        typical: { sum: "amount", over: { time: "average" } },
      },
      metrics: Object.fromEntries([
        ...[
          "total",
          "rows",
          "amounts",
          "words",
          "largest",
          "smallest",
          "mean",
          "good",
          "flagged",
          "latest",
          "latest_each",
          "first",
          "typical",
        ].map((measure) => metric(measure, { measure })),
        metric("ratio", { ratio: [`${name}_good`, `${name}_rows`] }),
        metric("across", { derived: `${name}_total - ${pick(others)} / 2` }),
        metric("before", {
          derived: `${name}_total - prior`,
          with: { prior: { metric: `${name}_total`, offset: "1 month" } },
        }),
        metric("running", { cumulative: `${name}_total` }),
        metric("year_to_date", { cumulative: `${name}_rows`, to: "year" }),
        metric("trailing", { cumulative: `${name}_total`, window: "3 months" }),
      ]),
    });
  }

  function randomQuery(): MetricQuery {
    const main = pick(tables);
    const names = files.flatMap((file) => Object.keys(file.metrics ?? {}));
    const own = names.filter((name) => name.startsWith(`${main.name}_`));
    const metrics = new Set([pick(own)]);
    while (chance(0.45) && metrics.size < 4) metrics.add(pick(chance(0.7) ? own : names));
    const needsTime = [...metrics].some((name) => /_(before|running|year_to_date|trailing)$/.test(name));
    const by = new Set<string>();
    if (needsTime || chance(0.25))
      by.add(needsTime ? "time.month" : `time.${pick(["hour", "day", "week", "month", "quarter", "year"])}`);
    while (chance(0.45) && by.size < 3)
      by.add(`${pick(chance(0.5) ? [main] : tables).name}.${pick(["word", "flag", "at.month"])}`);
    return metricQuery.parse({
      metrics: [...metrics],
      by: [...by],
      where: Array.from({ length: chance(0.5) ? 1 + below(2) : 0 }, randomFilter),
      ...(chance(0.1) && { segments: [`${main.name}.good`] }),
    });

    function randomFilter() {
      const plain = names.filter((name) => !/_(running|year_to_date|trailing|before)$/.test(name));
      const field = pick(chance(0.6) ? [main] : tables).name;
      return pick([
        () => ({ field: `${field}.word`, op: "=", value: pick(WORDS) }),
        () => ({ field: `${field}.word`, op: "!=", value: pick(WORDS) }),
        () => ({ field: `${field}.word`, op: "in", values: [pick(WORDS), pick(WORDS)] }),
        () => ({ field: `${field}.word`, op: pick(["contains", "starts_with"]), value: pick(PARTS) }),
        () => ({ field: `${field}.word`, op: "is_null" }),
        () => ({ field: pick(plain), op: pick([">", "<="]), value: pick([0, 2, 1_000]) }),
        () => ({ field: pick(plain), op: "is_null" }),
        () => ({ field: `${field}.flag`, op: "=", value: true }),
        () => ({ field: "time", from: "2025-03-01", until: "2026-01-01" }),
        () => ({ field: "time", range: "last_month" }),
        () => ({ field: `${field}.at`, from: "2025-10-26" }),
      ])();
    }
  }
}

/** The catalogue's view of the tables, and the statements that create and fill them. */
export const catalogued = ({ tables, files }: RandomCase, dialect: Dialect, schema: string) =>
  prepare(
    { files, tables: Object.fromEntries(tables.map((table) => [table.name, preparedTable(table)])) },
    dialect,
    schema,
  );

function preparedTable({ key, references, unique, rows }: RandomTable): ScenarioTable {
  const keys = [...key, ...references.flatMap(({ columns }) => columns)];
  const names = [...keys, "amount", "word", "flag", "at"];
  return {
    columns: [...keys.map((name) => `${name} int`), "amount big", "word word", "flag bool", "at moment"].join(", "),
    key,
    otherKeys: references.filter(({ role }) => unique.includes(role)).map(({ columns }) => columns),
    joins: references.map(({ columns, to }) => `${columns.join(", ")} → ${to}`),
    rows: rows.map((row) => names.map((name) => row[name] ?? null)),
  };
}
