import type { Candidate } from "./join-candidates.ts";
import type { Prober } from "./data/prober.ts";
import { exampleValues, knownValues, normalised } from "./data/known-values.ts";
import type { ColumnFacts } from "./data/table-facts.ts";

/** Examples looked up per column. */
const EXAMPLES = 5;
/** A few orphans are common, so that some examples may be missing in the key. */
const LEAST_SHARE = 0.6;
const VALUES_PER_QUERY = 1_500;
const KEYS_PER_QUERY = 40;

/**
 * Looks up a few examples of many columns in each key, many keys per query, and drops the pairs whose examples are not
 * there. One query replaces hundreds of comparisons. Pairs that could not be looked up remain.
 */
export async function screenByExamples(candidates: readonly Candidate[], prober: Prober): Promise<Candidate[]> {
  const unknown = candidates.filter(
    ({ from, to }) => from.kind !== "integer" && from.kind === to.kind && !knownValues(to),
  );
  const lookups = [...Map.groupBy(unknown, ({ to }) => to)].map(([to, pairs]) => ({
    to,
    values: [...new Set(pairs.flatMap(({ from }) => examplesOf(from)))],
  }));
  const found = new Map<ColumnFacts, Set<string>>(lookups.map(({ to }) => [to, new Set()]));
  for (const batch of batches(lookups)) {
    const rows = await prober.query(
      batch.map(({ to, values }, at) => lookupOf(to, values.length, at, prober)).join(" UNION ALL "),
      batch.flatMap(({ values }) => values),
    );
    if (rows) for (const [at, value] of rows) found.get(batch[Number(at)]!.to)?.add(normalised(value));
    else for (const { to } of batch) found.delete(to);
  }
  return candidates.filter(({ from, to }) => {
    const values = from.kind === to.kind ? found.get(to) : undefined;
    const examples = values ? examplesOf(from) : [];
    return examples.filter((each) => values!.has(normalised(each))).length >= examples.length * LEAST_SHARE;
  });
}

function lookupOf(to: ColumnFacts, values: number, at: number, prober: Prober): string {
  const [name, text] = [prober.quote(to.name), prober.asText(prober.quote(to.name))];
  const marks = Array.from({ length: values }, () => "?").join(", ");
  return (
    `SELECT DISTINCT ${at} AS probe, ${text} AS value FROM ${prober.tableOf(to.table)} ` +
    `WHERE ${to.declaredKind === "text" ? name : text} IN (${marks})`
  );
}

const examplesOf = (column: ColumnFacts): string[] => exampleValues(column).slice(0, EXAMPLES).map(String);

interface Lookup {
  to: ColumnFacts;
  values: string[];
}

function batches(lookups: readonly Lookup[]): Lookup[][] {
  const pieces = lookups.flatMap(({ to, values }) =>
    Array.from({ length: Math.ceil(values.length / VALUES_PER_QUERY) }, (_, i) => ({
      to,
      values: values.slice(i * VALUES_PER_QUERY, (i + 1) * VALUES_PER_QUERY),
    })),
  );
  const all: Lookup[][] = [];
  let size = Infinity;
  for (const piece of pieces) {
    if (size + piece.values.length > VALUES_PER_QUERY || all.at(-1)!.length >= KEYS_PER_QUERY) {
      all.push([]);
      size = 0;
    }
    all.at(-1)!.push(piece);
    size += piece.values.length;
  }
  return all;
}
