import type { SuggestedComposite } from "./check-suggestions.ts";
import { nameEvidence } from "./names/name-evidence.ts";
import type { Overlap } from "./data/overlap.ts";
import type { Probe, Prober } from "./data/prober.ts";
import { type ColumnFacts, kindFit, type TableFacts } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";
import { readsLikeReference, roleEvidence } from "./names/roles.ts";
import type { Vocabulary } from "./names/vocabulary.ts";

/** Columns of one table that together may refer to a composite key. */
export interface CompositeLink {
  from: readonly ColumnFacts[];
  key: Key;
  /** Found by names; otherwise suggested. */
  isNamed: boolean;
  status: "accepted" | "review";
  confidence: number;
  why: string[];
  overlap: Overlap | undefined;
}

interface Paired extends Probe {
  key: Key;
  isNamed: boolean;
  suggestion?: string;
}

/** Accepted single-column links, by column. */
export type Referents = ReadonlyMap<ColumnFacts, ColumnFacts>;

export async function findCompositeLinks(
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  context: {
    vocabulary: Vocabulary;
    referents: Referents;
    copies: ReadonlyMap<TableFacts, TableFacts>;
    prober: Prober;
    suggested: readonly SuggestedComposite[];
  },
): Promise<CompositeLink[]> {
  const composite = [...keys.values()]
    .flat()
    .filter((key) => key.columns.length > 1 && (key.primary || key.unique === "declared"));
  const named = composite.flatMap((key) =>
    tables
      .filter(
        (table) => table !== key.table && context.copies.get(table) !== key.table && !context.copies.has(key.table),
      )
      .flatMap((table): Paired[] => {
        const own = keys.get(table)?.find(({ primary }) => primary)?.columns ?? [];
        return pairings(table, key, { ...context, own }).map((from) => ({ from, to: key.columns, key, isNamed: true }));
      }),
  );
  const suggested = context.suggested.map(({ from, key, why }): Paired => {
    const known = named.find((pair) => pair.key === key && pair.from.every((column, i) => column === from[i]));
    return { from, to: key.columns, key, isNamed: known !== undefined, suggestion: why };
  });
  const pairs = [
    ...named.filter((pair) => !suggested.some((each) => each.isNamed && isSame(each, pair))),
    ...suggested,
  ];
  await context.prober.ask(pairs.filter(({ from, to }) => hasRows(from[0]!.table) && hasRows(to[0]!.table)));
  const links = pairs.flatMap((pair) => {
    const link = judgeComposite(pair, context.prober.answerTo(pair), context);
    return link ? [link] : [];
  });
  // Two tables with the same pairs: the direction cannot be known.
  return links.filter(
    (link) =>
      !links.some(
        (other) =>
          other.from[0]!.table === link.key.table && other.key.table === link.from[0]!.table && !isWeaker(other, link),
      ),
  );
}

const isSame = (a: Paired, b: Paired): boolean => a.key === b.key && a.from.every((column, i) => column === b.from[i]);
const isWeaker = (a: CompositeLink, b: CompositeLink): boolean => a.confidence < b.confidence;
const hasRows = ({ rows }: TableFacts): boolean => (rows ?? 0) > 0;

interface Naming {
  vocabulary: Vocabulary;
  referents: Referents;
  /** Key columns of the referring table. */
  own: readonly ColumnFacts[];
}

interface Stand {
  column: ColumnFacts;
  score: number;
  /** `from` of from_bin: columns with the same role belong together. */
  role: string;
}

/** Finds a matching column for each key column, by name or by a common referent. Once per role. */
function pairings(table: TableFacts, key: Key, naming: Naming): (readonly ColumnFacts[])[] {
  const options = key.columns.map((theirs) =>
    table.columns
      .filter((column) => kindFit(column, theirs) >= 0.8)
      .map((column) => ({ column, ...standsFor(column, theirs, naming) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score),
  );
  if (options.some((each) => each.length === 0)) return [];
  const roles = [...new Set(options.flat().map(({ role }) => role))];
  const whole = roles.flatMap((role) =>
    inRole(
      options,
      (stand) => stand.role === role,
      (stand) => stand.role === "",
    ),
  );
  const found =
    whole.length > 0
      ? whole
      : inRole(
          options,
          () => true,
          () => true,
        );
  return [...new Map(found.map((columns) => [columns.map(({ name }) => name).join("\n"), columns])).values()];
}

function inRole(
  options: readonly (readonly Stand[])[],
  isOfRole: (stand: Stand) => boolean,
  isShared: (stand: Stand) => boolean,
): (readonly ColumnFacts[])[] {
  const taken: Stand[] = [];
  for (const stands of options) {
    const free = stands.filter(({ column }) => !taken.some((each) => each.column === column));
    const best = free.find(isOfRole) ?? free.find(isShared);
    if (!best) return [];
    taken.push(best);
  }
  const isNamed = taken.some(({ score }) => score >= 0.9) || taken.every(({ role }) => role !== "");
  return isNamed && taken.some(isOfRole) ? [taken.map(({ column }) => column)] : [];
}

const NOT_AT_ALL = { score: 0, role: "" };

function standsFor(
  mine: ColumnFacts,
  theirs: ColumnFacts,
  { vocabulary, referents, own }: Naming,
): Pick<Stand, "score" | "role"> {
  const same = vocabulary
    .read(mine)
    .find((a) => vocabulary.read(theirs).some((b) => a.words.join(" ") === b.words.join(" ")));
  // A row's `id` identifies the row itself, not a row of another table.
  if (same) return same.entity.length === 0 && own.includes(mine) ? NOT_AT_ALL : { score: 1, role: "" };
  const key: Key = { table: theirs.table, columns: [theirs], primary: true, unique: "counted" };
  const name = nameEvidence(mine, key, vocabulary);
  const role = (name.score > 0 ? name.role : vocabulary.read(mine).at(-1)!.entity).join(" ");
  const [target, other] = [referents.get(mine), referents.get(theirs)];
  if (target && (target === other || target === theirs)) return { score: 0.9, role };
  if (target || other) return NOT_AT_ALL;
  // customer_id for the id of customers, where (tenant, id) is the key.
  if (name.score >= 0.85) return { score: 0.85, role };
  // account_manager_no for the number of staff: a role of persons.
  const isInRole =
    readsLikeReference(mine, vocabulary) >= 1 && roleEvidence(mine, theirs.table, vocabulary).points >= 2;
  return isInRole && !own.includes(mine) ? { score: 0.85, role } : NOT_AT_ALL;
}

const MIN_BITS = 10;

function judgeComposite(
  { from, key, isNamed, suggestion }: Paired,
  overlap: Overlap | undefined,
  { referents, vocabulary }: { referents: Referents; vocabulary: Vocabulary },
): CompositeLink | undefined {
  const names = key.columns.map(({ name }) => name).join(", ");
  const why = [
    ...(suggestion ? [suggestion] : []),
    ...(isNamed ? [`Together the columns stand for the key (${names}).`] : []),
  ];
  // A line number is meaningless without its order: a table with both means the line.
  const inner = from.filter((_, i) => !referents.has(key.columns[i]!) && !referents.has(from[i]!));
  // But weeks and years are the same everywhere.
  const numbers = inner.some((column) => vocabulary.read(column).some(({ idWords }) => idWords.length > 0));
  if (!overlap || overlap.checked === 0) {
    if (!suggestion && (inner.length === 0 || inner.length === key.columns.length)) return undefined;
    const isEmpty = overlap !== undefined || !hasRows(from[0]!.table) || !hasRows(key.table);
    why.push(isEmpty ? "There are no values to compare." : "Their values were not compared.");
    const isAccepted = isEmpty && numbers;
    return {
      from,
      key,
      isNamed,
      status: isAccepted ? "accepted" : "review",
      confidence: isAccepted ? 0.8 : 0.55,
      why,
      overlap,
    };
  }
  const ratio = overlap.found / overlap.checked;
  if (ratio < 0.98) return undefined;
  const combinations = key.columns.reduce((product, { profile }) => product * Math.max(1, profile?.distinct ?? 1), 1);
  const bits = overlap.found * Math.log2(Math.max(1, combinations / Math.max(1, key.table.rows ?? 1)));
  why.push(`${overlap.found} of ${overlap.checked} combinations of values are found there.`);
  if (bits >= MIN_BITS) {
    return {
      from,
      key,
      isNamed,
      status: "accepted",
      confidence: Math.min(0.97, (ratio === 1 ? 0.86 : 0.8) + bits / 1000),
      why,
      overlap,
    };
  }
  if (inner.length === 0 && !suggestion) return undefined;
  why.push("Most combinations are there, so that this proves little.");
  return { from, key, isNamed, status: numbers ? "accepted" : "review", confidence: numbers ? 0.8 : 0.6, why, overlap };
}
