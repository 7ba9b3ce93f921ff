import type { Connection, Table, TableName } from "@tandem/connectors";
import { inParallel } from "@tandem/protocol";
import {
  type Candidate,
  candidatesByName,
  candidatesByRole,
  candidatesByValue,
  isOwnKey,
  keysByKind,
} from "./join-candidates.ts";
import { checkSuggestions } from "./check-suggestions.ts";
import { discoverCompositeKeys } from "./keys/composite-keys.ts";
import { findCompositeLinks } from "./composite-links.ts";
import { copiesAmong } from "./copies.ts";
import { declaredRelationships } from "./declared-relationships.ts";
import { type Choice, chooseTargets } from "./choose-targets.ts";
import { extensionCandidates } from "./extensions.ts";
import { findPolymorphicLinks } from "./polymorphic-links.ts";
import { type NotCompared, Prober, VALUES_PER_PROBE } from "./data/prober.ts";
import type { TableProfile, VerifiedKey } from "./data/profile.ts";
import { personLikeness, readsLikeReference } from "./names/roles.ts";
import type { JoinEnd, Relationship, Suggestion } from "./relationship.ts";
import { isNamed, judge, type SchemaFacts } from "./score.ts";
import { selfOrders } from "./self-orders.ts";
import { type ColumnFacts, tableFacts, type TableFacts, tableId } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";
import { keysOf } from "./keys/table-keys.ts";
import { screenByExamples } from "./value-screen.ts";
import { ValueIndex } from "./keys/value-index.ts";
import { counts } from "./data/value-evidence.ts";
import { Vocabulary } from "./names/vocabulary.ts";

interface FindOptions {
  /** Maximum number of column pairs whose values are compared. Default: 400 and 25 per table. */
  pairs?: number;
  /** Maximum number of queries. Default: 2,000 and 5 per table. */
  queries?: number;
  /** Time limit for all comparisons. Default: two minutes. */
  timeMs?: number;
  /** Time limit per query. */
  queryTimeoutMs?: number;
  concurrency?: number;
}

export interface FindInput {
  connection: Connection;
  tables: readonly Table[];
  profiles: readonly TableProfile[];
  /** Adds suggestions of a model or person; they are checked like all others. */
  suggest?: (found: readonly Relationship[]) => Promise<readonly Suggestion[]>;
  options?: FindOptions;
  signal?: AbortSignal;
  onProgress?: (progress: FindProgress) => void;
}

type FindStage = "names" | "values" | "choices" | "composite keys" | "uniqueness";

interface FindProgress {
  stage: FindStage;
  /** Columns, pairs or keys, as far as the stage counts them. */
  done: number;
  total: number | null;
}

export interface Findings {
  /** Accepted and for review, then rejected ones with some support. */
  relationships: Relationship[];
  /** Undeclared keys of several columns: no two rows of the table are equal in them. */
  compositeKeys: (VerifiedKey & { table: TableName })[];
  /** Suggestions with unknown tables or columns, with the reason. */
  unusable: { suggestion: Suggestion; reason: string }[];
  /** Number of pairs compared. */
  asked: number;
  /** Pairs left out because a budget was used up or a query failed. They are never accepted. */
  notCompared: NotCompared;
}

const CONCURRENCY = 4;

/** Finds references by names, types, keys and values, and learns from the schema's clear cases. */
export async function findRelationships(input: FindInput): Promise<Findings> {
  const { connection, options = {}, signal, onProgress } = input;
  const profiles = new Map(input.profiles.map((profile) => [tableId(profile), profile]));
  // Views repeat their tables' columns, so they are excluded.
  const tables = input.tables
    .filter(({ type }) => type === "table")
    .map((table) => tableFacts(table, profiles.get(tableId(table))));
  const limits = () => ({
    pairs: options.pairs ?? 400 + 25 * tables.length,
    queries: options.queries ?? 2_000 + 5 * tables.length,
    deadline: Date.now() + (options.timeMs ?? 120_000),
    timeoutMs: options.queryTimeoutMs ?? 15_000,
    concurrency: options.concurrency ?? CONCURRENCY,
    signal,
  });
  const prober = new Prober(connection, limits());

  const progress = (stage: FindStage) => (done: number, total: number) => onProgress?.({ stage, done, total });
  const start = (stage: FindStage) => onProgress?.({ stage, done: 0, total: null });

  start("names");
  const vocabulary = new Vocabulary(tables);
  const keys = new Map<TableFacts, Key[]>(tables.map((table) => [table, keysOf(table, vocabulary)]));
  const declared = declaredRelationships(tables, keys);
  const columns = tables.flatMap((table) => table.columns).filter((column) => !declared.columns.has(column));
  await discoverCompositeKeys(tables, keys, { vocabulary, prober });
  const copies = copiesAmong(tables);
  const allKeys = [...keys.values()].flat();
  const byKind = keysByKind(allKeys);
  const byValues = new ValueIndex(allKeys);
  const byName = [
    ...(await candidatesByName(columns, keys, vocabulary, progress("names"))),
    ...extensionCandidates(tables, keys, vocabulary),
  ];
  const byValueOf = once((column: ColumnFacts) =>
    candidatesByValue(column, byValues, vocabulary).filter(
      ({ key }) => copies.get(column.table) !== key.table && !sameTableKey(column, key, keys),
    ),
  );
  const byRoleOf = once((column: ColumnFacts) => candidatesByRole(column, byKind, vocabulary));

  const found = await conclude([]);
  const suggestions = (await input.suggest?.(found.relationships)) ?? [];
  if (suggestions.length === 0) return found;
  prober.renew(limits());
  return conclude(suggestions);

  /** Combines all evidence. Results of the first round are reused. */
  async function conclude(suggestions: readonly Suggestion[]): Promise<Findings> {
    const suggested = await checkSuggestions(suggestions, tables, keys, { vocabulary, prober });
    const candidates = merge([
      ...suggested.candidates.filter(({ from }) => !declared.columns.has(from)),
      ...byName,
    ]).filter(({ from, key }) => copies.get(from.table) !== key.table);

    start("values");
    await askAbout(candidates, prober, progress("values"));
    const around: SchemaFacts = {
      vocabulary,
      ...learn(candidates, tables, prober, declared.claimed),
      countingKeys: allKeys.filter(({ primary, columns }) => primary && columns.length === 1 && counts(columns[0]!))
        .length,
      staffTables: tables.filter((table) => personLikeness(table, vocabulary) === 1 && !copies.has(table)).length,
      copies: new Set(copies.keys()),
      selfOrder: new Map(),
    };
    const clear = new Set(candidates.filter((each) => isClear(each, prober)).map(({ from }) => from));
    const unclear = columns.filter((column) => !clear.has(column) && mayBeReference(column, keys, around));
    const byValue = mostFitting(await screenByExamples(unclear.flatMap(byValueOf), prober));
    const byRole = columns
      .filter((column) => !clear.has(column) && !isOwnKey(column, keys) && readsLikeReference(column, vocabulary) > 0)
      .flatMap(byRoleOf);
    const all = merge([...candidates, ...byRole, ...byValue]);
    await askAbout(all, prober, progress("values"));
    around.selfOrder = await selfOrders(all, prober);

    start("choices");
    const judged = all.map((candidate) => ({ candidate, ...judge(candidate, answer(candidate, prober), around) }));
    const byColumn = Map.groupBy(all, ({ from }) => from);
    const polymorphic = await findPolymorphicLinks(tables, keys, byColumn, { vocabulary, prober });
    const choices = chooseTargets(judged.filter(({ candidate }) => !polymorphic.columns.has(candidate.from))).map(
      (choice) => leftOpen(choice, polymorphic.undecided.get(choice.candidate.from)),
    );

    start("composite keys");
    const referents = new Map([
      ...declared.referents,
      ...accepted(choices).map(({ candidate }) => [candidate.from, candidate.to] as const),
    ]);
    const composite = (
      await findCompositeLinks(tables, keys, { vocabulary, referents, copies, prober, suggested: suggested.composites })
    ).filter(({ from }) => !declared.composites.has(from.map(({ name }) => `${from[0]!.table.id}.${name}`).join()));

    start("uniqueness");
    await verifyUniqueness(choices, prober, options.concurrency ?? CONCURRENCY);

    const relationships: Relationship[] = [
      ...declared.relationships,
      ...choices.map((choice) => relationshipOf(choice, prober)),
      ...polymorphic.links.map(({ from, key, when, overlap, status, confidence, why }): Relationship => ({
        from: end([from]),
        to: end(key.columns),
        origin: "data",
        status,
        confidence,
        cardinality: "many-to-one",
        when,
        why,
        evidence: evidenceOf(overlap, from, true),
      })),
      ...composite.map(({ from, key, isNamed, status, confidence, why, overlap }): Relationship => ({
        from: end(from),
        to: end(key.columns),
        origin: isNamed ? "data" : "model",
        status,
        confidence,
        why,
        cardinality: "many-to-one",
        evidence: evidenceOf(overlap, from[0]!, true),
      })),
    ];
    return {
      relationships: withoutImplied(
        relationships,
        composite.filter(({ status }) => status === "accepted").map(({ from }) => from),
      ),
      compositeKeys: [...keys.values()]
        .flat()
        .filter(({ columns, unique }) => columns.length > 1 && unique === "counted")
        .map(({ table, columns }) => ({ table: table.name, columns: columns.map(({ name }) => name), of: "all" })),
      unusable: suggested.unusable,
      asked: prober.asked,
      notCompared: prober.notCompared,
    };
  }
}

/** target_id with a number in target_type refers to one of several tables; its rows must not all join one of them. */
function leftOpen(choice: Choice, type: ColumnFacts | undefined): Choice {
  if (!type || choice.status !== "accepted") return choice;
  const why = `${type.name} decides which table it refers to.`;
  return { ...choice, status: "review", confidence: Math.min(0.5, choice.confidence), why: [...choice.why, why] };
}

/** Memoised, because it is expensive and used in both rounds. */
function once<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key)!;
  };
}

const accepted = (choices: readonly Choice[]): Choice[] => choices.filter(({ status }) => status === "accepted");
const answer = ({ from, to }: Candidate, prober: Prober) => prober.answerTo({ from: [from], to: [to] });

async function askAbout(
  candidates: readonly Candidate[],
  prober: Prober,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const worth = candidates.filter(({ from, to }) => from.filled > 0 && to.table.rows !== undefined);
  const ranked = worth.toSorted((a, b) => b.name.score - a.name.score);
  await prober.ask(
    ranked.map(({ from, to }) => ({ from: [from], to: [to] })),
    onProgress,
  );
}

const BY_VALUE_PER_COLUMN = 6;

/** The tightest fits of each column; candidates come in that order. */
const mostFitting = (candidates: readonly Candidate[]): Candidate[] =>
  [...Map.groupBy(candidates, ({ from }) => from).values()].flatMap((each) =>
    each.slice(0, each[0]!.from.kind === "uuid" ? UUID_KEYS_PER_COLUMN : BY_VALUE_PER_COLUMN),
  );
const UUID_KEYS_PER_COLUMN = 40;

/** The same pair may come from a name, a value and a suggestion. */
function merge(candidates: readonly Candidate[]): Candidate[] {
  const merged = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const { from, to } = candidate;
    const id = JSON.stringify([from.table.id, from.name, to.table.id, to.name]);
    const known = merged.get(id);
    const suggestion = known?.suggestion ?? candidate.suggestion;
    const name = known && known.name.score > candidate.name.score ? known.name : candidate.name;
    merged.set(id, { ...candidate, name, ...(suggestion !== undefined && { suggestion }) });
  }
  return [...merged.values()];
}

/** Well named, and not contradicted by values. */
function isClear(candidate: Candidate, prober: Prober): boolean {
  const overlap = answer(candidate, prober);
  return candidate.name.score >= 0.8 && (!overlap || overlap.found + overlap.none >= overlap.checked * 0.9);
}

function learn(
  candidates: readonly Candidate[],
  tables: readonly TableFacts[],
  prober: Prober,
  claimedByKeys: ReadonlySet<TableFacts>,
) {
  const clear = candidates.filter((each) => isClear(each, prober) && each.from.table !== each.to.table);
  const named = new Set(clear.map(({ from }) => from)).size + claimedByKeys.size;
  const claimed = new Set([...clear.map(({ to }) => to.table), ...claimedByKeys]);
  return { namesTell: Math.min(1, named / Math.max(1, tables.length * 0.5)), claimed };
}

function mayBeReference(
  column: ColumnFacts,
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  around: SchemaFacts,
): boolean {
  const { profile, kind } = column;
  if (!profile || profile.distinct < 2 || !["integer", "text", "uuid", "other"].includes(kind)) return false;
  if (kind === "text" && (profile.lengths?.[1] ?? 0) > 80) return false;
  if (isOwnKey(column, keys)) return false;
  if (kind !== "integer" || readsLikeReference(column, around.vocabulary) > 0) return true;
  return around.namesTell < 0.5 || profile.distinct >= 20;
}

const sameTableKey = (column: ColumnFacts, key: Key, keys: ReadonlyMap<TableFacts, readonly Key[]>): boolean =>
  key.table === column.table && isOwnKey(column, keys);

const end = (columns: readonly ColumnFacts[]): JoinEnd => ({
  table: columns[0]!.table.name,
  columns: columns.map(({ name }) => name),
});

function evidenceOf(
  overlap: ReturnType<Prober["answerTo"]>,
  from: ColumnFacts,
  unique: boolean,
): Relationship["evidence"] {
  if (!overlap) return undefined;
  const { checked, found } = overlap;
  const of = from.table.seenWhole && checked < VALUES_PER_PROBE ? "all" : "sample";
  return { checked, found, of, nulls: from.profile?.nulls ?? 0, unique };
}

function relationshipOf({ candidate, status, confidence, why }: Choice, prober: Prober): Relationship {
  const { from, to, suggestion } = candidate;
  const evidence = evidenceOf(answer(candidate, prober), from, true);
  return {
    from: end([from]),
    to: end([to]),
    origin: suggestion !== undefined && !isNamed(candidate) ? "model" : "data",
    status,
    confidence,
    cardinality: from.profile?.unique && from.table.seenWhole ? "one-to-one" : "many-to-one",
    why,
    ...(evidence && { evidence }),
  };
}

/** Drops single-column links implied by a composite one. */
function withoutImplied(
  relationships: readonly Relationship[],
  composite: readonly (readonly ColumnFacts[])[],
): Relationship[] {
  const covered = new Set(composite.flat().map((column) => `${column.table.id}.${column.name}`));
  return relationships.map((each) => {
    const inside = each.from.columns.length === 1 && covered.has(`${tableId(each.from.table)}.${each.from.columns[0]}`);
    if (!inside || each.origin === "declared" || each.status !== "accepted") return each;
    return {
      ...each,
      status: "review",
      why: [...each.why, "It follows from the link of several columns that it is part of."],
    };
  });
}

/** Undeclared keys that were only sampled are counted completely before they are used. */
async function verifyUniqueness(choices: Choice[], prober: Prober, concurrency: number): Promise<void> {
  const resting = choices.filter(
    ({ status, candidate: { key } }) => status !== "rejected" && key.unique === "counted" && !key.table.seenWhole,
  );
  await inParallel([...Map.groupBy(resting, ({ candidate }) => candidate.key)], concurrency, async ([key, links]) => {
    const unique = await isUnique(key, prober);
    for (const link of links) {
      if (unique === false) [link.status, link.confidence] = ["rejected", 0.05];
      if (unique === false) link.why.push("The referenced column is not unique.");
      if (unique === undefined) link.why.push("Whether what it refers to is unique was seen in a sample only.");
    }
  });
}

async function isUnique({ table, columns }: Key, prober: Prober): Promise<boolean | undefined> {
  const column = prober.quote(columns[0]!.name);
  const rows = await prober.query(`SELECT count(${column}), count(DISTINCT ${column}) FROM ${prober.tableOf(table)}`);
  return rows && Number(rows[0]![0]) === Number(rows[0]![1]);
}
