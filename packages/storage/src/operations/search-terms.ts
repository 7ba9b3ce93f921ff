import { operation } from "../operation.ts";
import { analyseQuery, type QueryTerms, type QueryWord, wordsInTitle } from "../search/analyse-query.ts";
import { anyOf, expressionOf, type Expression } from "../search/expression.ts";
import { all, one, sql, type Work } from "../sql.ts";
import { findSpace, type SearchSpace } from "./search-documents.ts";
import { type RankedRow, searchEngines } from "./search-engines.ts";

/** Documents that are ranked in one go. The rest is not looked through: what is in so many tells them apart by little. */
const MOST_RANKED = 2_000;
/** Words that are in too many documents to select some by them still rank those that others have selected. */
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

interface Search extends QueryTerms {
  engine: SearchArgs["engine"];
  count: number;
}

/** Documents that are called so, then those with all the words in their titles or anywhere, then those with some. */
export const searchTerms = operation("search.terms", function* (args: SearchArgs): Work<FoundByWords | undefined> {
  const space = yield* findSpace(args.name);
  if (!space) return undefined;
  const search: Search = { engine: args.engine, count: args.count, ...analyseQuery(space.number, args) };
  const { words, count } = search;
  const found = new Set<number>();
  const add = (numbers: readonly number[]): void => {
    for (const number of numbers) if (found.size < count) found.add(number);
  };
  if (search.exact !== undefined) add(yield* called(search, search.exact));
  const exact = found.size;
  if (words.length > 0) {
    const titled = wordsInTitle(words);
    add(yield* rank(search, titled.map(expressionOf), titled));
    if (found.size < count) add(yield* rank(search, words.map(expressionOf), words));
    if (found.size < count && words.length > 1) add(yield* withSome(search));
  }
  return { space, found: [...found], exact, words };
});

/** Numbers of all documents that the facts hold for. */
export const searchFacts = operation(
  "search.facts",
  function* (args: Omit<SearchArgs, "text" | "count">): Work<Float64Array> {
    const space = yield* findSpace(args.name);
    if (!space) return new Float64Array();
    const { facts } = analyseQuery(space.number, { ...args, text: "" });
    const rows = yield* all(searchEngines[args.engine].matching({ facts: facts.map(anyOf), words: [] }));
    return Float64Array.from(rows, ({ number }) => number);
  },
);

function* called({ engine, facts, count }: Search, exact: string): Work<number[]> {
  const matching = searchEngines[engine].matching({ facts: facts.map(anyOf), words: [{ term: exact }] });
  const rows = yield* all(sql<{ number: number }>`
    select number from (${matching}) as found order by number limit ${count}`);
  return rows.map(({ number }) => number);
}

/**
 * The rarest words select, as many of them as find no more than can be ranked; of the others, the rarest two say which of
 * these are better.
 */
function* withSome(search: Search): Work<number[]> {
  const counted: { word: QueryWord; count: number }[] = [];
  for (const word of search.words) counted.push({ word, count: yield* countUpTo(search, expressionOf(word)) });
  const known = counted.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count);
  let sum = 0;
  const selecting = known.filter(({ count }, index) => (sum += count) <= MOST_RANKED || index === 0);
  if (selecting.length === 0) return [];
  const common = known.slice(selecting.length, selecting.length + COMMON_WORDS);
  const anyWord = (some: typeof known): Expression => ({ any: some.map(({ word }) => expressionOf(word)) });
  const some = anyWord(selecting);
  const expression = common.length === 0 ? some : { any: [{ all: [some, anyWord(common)] }, some] };
  const ranking = [...selecting, ...common];
  const weights = ranking.map(({ count }) => Math.log(1 + MOST_RANKED / count));
  return yield* rank(
    search,
    [expression],
    ranking.map(({ word }) => word),
    weights,
  );
}

function* countUpTo({ engine, facts }: Search, expression: Expression): Work<number> {
  const matching = searchEngines[engine].matching({ facts: facts.map(anyOf), words: [expression] });
  const row = yield* one(sql<{ count: number }>`
    select count(*) as count from (${matching} limit ${MOST_RANKED + 1}) as found`);
  return row!.count;
}

function* rank(
  { engine, facts, count }: Search,
  expressions: readonly Expression[],
  words: readonly QueryWord[],
  weights?: readonly number[],
): Work<number[]> {
  const condition = { facts: facts.map(anyOf), words: expressions };
  const ranked = searchEngines[engine].ranked(condition, words, MOST_RANKED, weights);
  const rows = yield* all(sql<RankedRow>`
    select number, score from (${ranked}) as found order by score desc, number limit ${count}`);
  return rows.map(({ number }) => number);
}
