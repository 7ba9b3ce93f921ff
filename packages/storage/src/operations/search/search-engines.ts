import type { SearchWord } from "../../search/analyse-query.ts";
import { anyOf, type SearchExpression, expressionOf, toFts, toTsquery } from "../../search/search-expression.ts";
import { join, raw, sql, type Sql } from "../../sql-statement.ts";

/** Weight of a word in the title relative to one in the body. */
const TITLE_WEIGHT = 20;
/** Postgres first ranks by `ts_rank`; only these top rows are re-ranked with word weights. */
const RANKED_CLOSELY = 200;
/** Rank at which a word counts half of its maximum. Saturation makes several matching words beat one repeated word. */
const HALF_RANK = 0.01;

/** A query. `facts` are filters on the document: one term of each list must match. */
interface Condition {
  facts: readonly (readonly string[])[];
  /** Facts that match very many documents. Filtering the found rows is faster than intersecting in the index. */
  commonFacts?: readonly (readonly string[])[];
  words: readonly SearchExpression[];
}

export interface RankedRow {
  number: number;
  /** Higher is better. */
  score: number;
}

/** The statements that differ between the engines. */
export interface SearchEngine {
  matching(condition: Condition): Sql<{ number: number }>;
  /** At most `most` documents, unordered. `weights`: importance of each word; equal if absent. */
  ranked(condition: Condition, words: readonly SearchWord[], most: number, weights?: readonly number[]): Sql<RankedRow>;
}

const sqlite: SearchEngine = {
  matching: (condition) => sql`
    select rowid as number from search_terms where search_terms match ${ftsOf(condition)} ${checkOf(condition)}`,
  // BM25 weighs words by their rarity itself.
  ranked: (condition, _, most) => sql`
    select rowid as number, -bm25(search_terms, 0, ${TITLE_WEIGHT}, 1) as score from search_terms
    where search_terms match ${ftsOf(condition)} ${checkOf(condition)} limit ${most}`,
};

const ftsOf = ({ facts, words }: Condition): string => toFts({ all: [...facts.map(anyOf), ...words] });

function checkOf({ commonFacts = [] }: Condition): Sql {
  if (commonFacts.length === 0) return raw("");
  const each = commonFacts.map((facts) =>
    join(
      facts.map((fact) => sql`instr(facts, ${` ${fact} `}) > 0`),
      " or ",
    ),
  );
  return sql`and exists (
    select 1 from search_document where number = search_terms.rowid and ${join(
      each.map((any) => sql`(${any})`),
      " and ",
    )}
  )`;
}

const postgres: SearchEngine = {
  matching: (condition) => sql`
    select document as number from search_terms where terms @@ ${tsqueryOf(condition)}`,
  ranked: (condition, words, most, weights) => {
    const any = cast(toTsquery({ any: words.map(expressionOf) }));
    const some = sql<RankedRow>`
      select document as number, ${tsRank(any)} as score from search_terms
      where terms @@ ${tsqueryOf(condition)} limit ${most}`;
    if (!weights) return some;
    const sum = words.map((word, index) => {
      const rank = tsRank(cast(toTsquery(expressionOf(word))));
      return sql`${weights[index]!}::float8 * (1 - ${HALF_RANK}::float8 / (${HALF_RANK}::float8 + ${rank}))`;
    });
    return sql`
      select number, ${join(sum, " + ")} as score
      from (select number from (${some}) as found order by score desc, number limit ${RANKED_CLOSELY}) as best
      join search_terms on document = number`;
  },
};

const cast = (text: string): Sql => sql`cast(${text} as tsquery)`;

// Normalisation 1 divides by the logarithm of the document's length.
const tsRank = (query: Sql): Sql => sql`ts_rank(${raw(`'{${1 / TITLE_WEIGHT}, 0, 0, 1}'`)}, terms, ${query}, 1)`;

const tsqueryOf = ({ facts, commonFacts = [], words }: Condition): Sql =>
  cast(toTsquery({ all: [...[...facts, ...commonFacts].map(anyOf), ...words] }));

export const searchEngines: Record<"sqlite" | "postgres", SearchEngine> = { sqlite, postgres };
