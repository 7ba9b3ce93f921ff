import type { Value } from "@tandem/connectors";
import type { StorableProfile } from "../privacy/storable-values.ts";
import { oneLine } from "./one-line.ts";
import type { ColumnEntry } from "./table-file.ts";

type Stored = NonNullable<ColumnEntry["profile"]>;

/** Longer values add nothing, and people read this file. */
const MAX_VALUE = 80;
/** A value of a small domain is kept whole: people and agents look it up. */
const MAX_DOMAIN_VALUE = 200;
/** Characters of a domain; one with more keeps examples only. */
const MAX_DOMAIN = 8_000;

/**
 * The values of a column in its file, and so in git, the search index and prompts. `storableProfile` has removed the values
 * that may not be stored.
 */
export function storedValues({
  min,
  max,
  samples,
  domain,
  stored,
  personal,
  shapes,
  lengths,
}: StorableProfile): Omit<Stored, "nulls" | "distinct" | "distinctIs"> {
  if (stored) {
    return { stored, personal, ...(shapes && { shapes: [...shapes], lengths: lengths && [...lengths] }) };
  }
  const range = { min: shown(min, MAX_VALUE), max: shown(max, MAX_VALUE) };
  const all = domain && shownAll(domain.values, MAX_DOMAIN_VALUE);
  if (all && all.reduce<number>((sum, value) => sum + String(value).length, 0) <= MAX_DOMAIN) {
    return { ...range, samples: all, samplesAre: domain.of };
  }
  const few = shownAll(samples, MAX_VALUE);
  return few.length > 0 ? { ...range, samples: few, samplesAre: "examples" } : range;
}

const shownAll = (values: readonly Value[], longest: number) => [
  ...new Set(values.map((value) => shown(value, longest)).filter((value) => value !== undefined)),
];

function shown(value: Value | undefined, longest: number): string | number | boolean | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "string") return value;
  const text = oneLine(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
