import { operation } from "../../operation.ts";
import {
  analyseQuery,
  type QueryTerms,
  type QueryWord,
  type SearchWord,
  inParts,
  inTitles,
} from "../../search/analyse-query.ts";
import { anyOf, expressionOf, type SearchExpression } from "../../search/search-expression.ts";
import { all, one, sql, type Work } from "../../sql-statement.ts";
import { findSpace, type SearchSpace } from "./search-documents.ts";
import { type RankedRow, searchEngines } from "./search-engines.ts";

/** Documents ranked per query; the rarest words select at most this many. */
const MAX_RANKED = 1_000;
/**
 * A word in more documents than this hardly discriminates and is slow to rank. It is used only if all words are that
 * common.
 */
const MAX_DISCRIMINATING = 10_000;
/** The number of words that only rank, without selecting. */
const COMMON_WORDS = 2;

export interface SearchArgs {
  engine: "sqlite" | "postgres";
  name: string;
  text: string;
  kinds?: readonly string[];
  filters?: Readonly<Record<string, string>>;
  count: number;
}

export interface FoundByWords {
  space: SearchSpace;
  /** Document numbers, best first. */
  found: number[];
  /** How many of the first results match the query exactly by title. */
  exact: number;
  words: QueryWord[];
}

interface Search extends Pick<QueryTerms, "words" | "exact"> {
  engine: SearchArgs["engine"];
  count: number;
  facts: string[][];
  commonFacts: string[][];
}

/** Order: exact titles, then all words in the title, then all words anywhere, then some of the words. */
export const searchTerms = operation("search.terms", function* (args: SearchArgs): Work<FoundByWords | undefined> {
  const space = yield* findSpace(args.name);
  if (!space) return undefined;
  const search = yield* begin(args, space.number);
  const { words, count } = search;
  const found = new Set<number>();
  const add = (numbers: readonly number[]): void => {
    for (const number of numbers) if (found.size < count) found.add(number);
  };
  if (search.exact !== undefined) add(yield* select(search, [{ term: search.exact }]));
  const exact = found.size;
  // First the words as typed, then split at identifier boundaries.
  const ways = [words, inParts(words)].filter((way) => way.length > 0);
  for (const way of ways) add(yield* rank(search, inTitles(way)));
  const counts = new Map<string, number>();
  for (const way of ways) {
    if (found.size < count) add(yield* withAll(search, yield* countEach(search, way, counts)));
  }
  if (found.size < count) {
    const every = new Map(ways.flat().map((word) => [word.terms[0], word]));
    if (every.size > 1) add(yield* withSome(search, yield* countEach(search, [...every.values()], counts)));
  }
  return { space, found: [...found], exact, words };
});

function* begin({ engine, count, ...query }: SearchArgs, space: number): Work<Search> {
  const { facts: all, ...terms } = analyseQuery(space, query);
  const facts: string[][] = [];
  const commonFacts: string[][] = [];
  for (const each of all) {
    const isCommon = (yield* countUpTo(engine, anyOf(each))) > MAX_DISCRIMINATING;
    (isCommon ? commonFacts : facts).push(each);
  }
  return { engine, count, ...terms, facts, commonFacts };
}

/** Numbers of all documents that match the facts. */
export const searchFacts = operation(
  "search.facts",
  function* (args: Omit<SearchArgs, "text" | "count">): Work<Float64Array> {
    const space = yield* findSpace(args.name);
    if (!space) return new Float64Array();
    const { facts } = analyseQuery(space.number, { ...args, text: "" });
    const rows = yield* all(searchEngines[args.engine].matching({ facts, words: [] }));
    return Float64Array.from(rows, ({ number }) => number);
  },
);

interface CountedWord extends SearchWord {
  count: number;
}

/** Rarest first. */
function* countEach(search: Search, words: readonly SearchWord[], known: Map<string, number>): Work<CountedWord[]> {
  const counted: CountedWord[] = [];
  for (const word of words) {
    const name = word.terms[0]!;
    const count = known.get(name) ?? (yield* countUpTo(search.engine, expressionOf(word)));
    known.set(name, count);
    counted.push({ ...word, count });
  }
  return counted.sort((a, b) => a.count - b.count);
}

const isDiscriminating = ({ count }: CountedWord): boolean => count > 0 && count <= MAX_DISCRIMINATING;

function* withAll(search: Search, words: readonly CountedWord[]): Work<number[]> {
  if (words[0]!.count === 0) return [];
  const discriminating = words.filter(isDiscriminating);
  // If every word is very common, ranking cannot help: return the first documents.
  return yield* discriminating.length > 0 ? rank(search, discriminating) : select(search, words.map(expressionOf));
}

/**
 * The rarest words select, as many as stay within the ranking limit. The rarest of the remaining words refine the
 * ranking.
 */
function* withSome(search: Search, words: readonly CountedWord[]): Work<number[]> {
  const discriminating = words.filter(isDiscriminating);
  const anyOfThem = (some: readonly CountedWord[]): SearchExpression => ({ any: some.map(expressionOf) });
  if (discriminating.length === 0) {
    const known = words.filter(({ count }) => count > 0);
    return known.length > 0 ? yield* select(search, [anyOfThem(known)]) : [];
  }
  let sum = 0;
  const selecting = discriminating.filter(({ count }, index) => (sum += count) <= MAX_RANKED || index === 0);
  const common = discriminating.slice(selecting.length, selecting.length + COMMON_WORDS);
  const some = anyOfThem(selecting);
  const expression = common.length === 0 ? some : { any: [{ all: [some, anyOfThem(common)] }, some] };
  const ranking = [...selecting, ...common];
  return yield* rank(search, ranking, {
    expressions: [expression],
    weights: ranking.map(({ count }) => Math.log(1 + MAX_DISCRIMINATING / count)),
  });
}

function* select({ engine, facts, commonFacts, count }: Search, words: readonly SearchExpression[]): Work<number[]> {
  const matching = searchEngines[engine].matching({ facts, commonFacts, words });
  const rows = yield* all(sql<{ number: number }>`
    select number from (${matching} limit ${count}) as found order by number`);
  return rows.map(({ number }) => number);
}

function* countUpTo(engine: SearchArgs["engine"], expression: SearchExpression): Work<number> {
  const matching = searchEngines[engine].matching({ facts: [], words: [expression] });
  const row = yield* one(sql<{ count: number }>`
    select count(*) as count from (${matching} limit ${MAX_DISCRIMINATING + 1}) as found`);
  return row!.count;
}

/** Ranks documents that match all words, or the given expressions. */
function* rank(
  { engine, facts, commonFacts, count }: Search,
  words: readonly SearchWord[],
  options: { expressions?: readonly SearchExpression[]; weights?: readonly number[] } = {},
): Work<number[]> {
  const { expressions = words.map(expressionOf), weights } = options;
  const condition = { facts, commonFacts, words: expressions };
  const ranked = searchEngines[engine].ranked(condition, words, MAX_RANKED, weights);
  const rows = yield* all(sql<RankedRow>`
    select number, score from (${ranked}) as found order by score desc, number limit ${count}`);
  return rows.map(({ number }) => number);
}
