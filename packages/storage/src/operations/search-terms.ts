import { operation } from "../operation.ts";
import {
  analyseQuery,
  type QueryTerms,
  type QueryWord,
  type Wanted,
  inParts,
  inTitles,
} from "../search/analyse-query.ts";
import { anyOf, expressionOf, type Expression } from "../search/expression.ts";
import { all, one, sql, type Work } from "../sql.ts";
import { findSpace, type SearchSpace } from "./search-documents.ts";
import { type RankedRow, searchEngines } from "./search-engines.ts";

/** Documents that are ranked in one go: the rarest words select as many. */
const MOST_RANKED = 1_000;
/**
 * A word in more documents than this tells them apart by little, and takes long to weigh. It selects and ranks only where all
 * words are like this.
 */
const MOST_TELLING = 10_000;
/** Words that do not select still rank what others have selected: so many of them. */
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
  /** Numbers of documents, best first. */
  found: number[];
  /** How many of them, at the beginning, are called exactly what was asked for. */
  exact: number;
  words: QueryWord[];
}

interface Search extends Pick<QueryTerms, "words" | "exact"> {
  engine: SearchArgs["engine"];
  count: number;
  facts: string[][];
  commonFacts: string[][];
}

/** Documents that are called so, then those with all the words in their titles or anywhere, then those with some. */
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
  // As it was written, then by the parts of identifiers.
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
    const isCommon = (yield* countUpTo(engine, anyOf(each))) > MOST_TELLING;
    (isCommon ? commonFacts : facts).push(each);
  }
  return { engine, count, ...terms, facts, commonFacts };
}

/** Numbers of all documents that the facts hold for. */
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

interface CountedWord extends Wanted {
  count: number;
}

/** The rarest first. */
function* countEach(search: Search, words: readonly Wanted[], known: Map<string, number>): Work<CountedWord[]> {
  const counted: CountedWord[] = [];
  for (const word of words) {
    const name = word.terms[0]!;
    const count = known.get(name) ?? (yield* countUpTo(search.engine, expressionOf(word)));
    known.set(name, count);
    counted.push({ ...word, count });
  }
  return counted.sort((a, b) => a.count - b.count);
}

const isTelling = ({ count }: CountedWord): boolean => count > 0 && count <= MOST_TELLING;

function* withAll(search: Search, words: readonly CountedWord[]): Work<number[]> {
  if (words[0]!.count === 0) return [];
  const telling = words.filter(isTelling);
  // Of words that are everywhere, the first documents are as good as any.
  return yield* telling.length > 0 ? rank(search, telling) : select(search, words.map(expressionOf));
}

/**
 * The rarest words select, as many of them as find no more than can be ranked; of the others, the rarest two say which of
 * these are better.
 */
function* withSome(search: Search, words: readonly CountedWord[]): Work<number[]> {
  const telling = words.filter(isTelling);
  const anyOfThem = (some: readonly CountedWord[]): Expression => ({ any: some.map(expressionOf) });
  if (telling.length === 0) {
    const known = words.filter(({ count }) => count > 0);
    return known.length > 0 ? yield* select(search, [anyOfThem(known)]) : [];
  }
  let sum = 0;
  const selecting = telling.filter(({ count }, index) => (sum += count) <= MOST_RANKED || index === 0);
  const common = telling.slice(selecting.length, selecting.length + COMMON_WORDS);
  const some = anyOfThem(selecting);
  const expression = common.length === 0 ? some : { any: [{ all: [some, anyOfThem(common)] }, some] };
  const ranking = [...selecting, ...common];
  return yield* rank(search, ranking, {
    expressions: [expression],
    weights: ranking.map(({ count }) => Math.log(1 + MOST_TELLING / count)),
  });
}

function* select({ engine, facts, commonFacts, count }: Search, words: readonly Expression[]): Work<number[]> {
  const matching = searchEngines[engine].matching({ facts, commonFacts, words });
  const rows = yield* all(sql<{ number: number }>`
    select number from (${matching} limit ${count}) as found order by number`);
  return rows.map(({ number }) => number);
}

function* countUpTo(engine: SearchArgs["engine"], expression: Expression): Work<number> {
  const matching = searchEngines[engine].matching({ facts: [], words: [expression] });
  const row = yield* one(sql<{ count: number }>`
    select count(*) as count from (${matching} limit ${MOST_TELLING + 1}) as found`);
  return row!.count;
}

/** Those with all of the words, or as the expressions say. */
function* rank(
  { engine, facts, commonFacts, count }: Search,
  words: readonly Wanted[],
  options: { expressions?: readonly Expression[]; weights?: readonly number[] } = {},
): Work<number[]> {
  const { expressions = words.map(expressionOf), weights } = options;
  const condition = { facts, commonFacts, words: expressions };
  const ranked = searchEngines[engine].ranked(condition, words, MOST_RANKED, weights);
  const rows = yield* all(sql<RankedRow>`
    select number, score from (${ranked}) as found order by score desc, number limit ${count}`);
  return rows.map(({ number }) => number);
}
