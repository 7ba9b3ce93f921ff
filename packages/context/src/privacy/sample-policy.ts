import { samplePatternParts, type SampleMode, type SamplesConfig } from "@tandem/protocol";

export interface ColumnIdentity {
  connection: string;
  schema: string;
  table: string;
  column: string;
}

interface Rule {
  pattern: string;
  mode: SampleMode;
  parts: readonly RegExp[];
  /** Number of characters that are no wildcards. */
  literal: number;
}

const STRICTNESS: Record<SampleMode, number> = { values: 0, shapes: 1, none: 2 };

/** The mode that `scan.samples` sets for each column. */
export class SamplePolicy {
  readonly #rules: readonly Rule[];

  constructor(config: SamplesConfig) {
    const modes = typeof config === "string" ? { "*": config } : config;
    // A pattern of more parts wins, then the one with more characters that are no wildcards, then the stricter one.
    this.#rules = Object.entries(modes)
      .map(([pattern, mode]): Rule => {
        const parts = samplePatternParts(pattern);
        return { pattern, mode, parts: parts.map(globOf), literal: pattern.replaceAll(/[*?]/g, "").length };
      })
      .toSorted(
        (a, b) => b.parts.length - a.parts.length || b.literal - a.literal || STRICTNESS[b.mode] - STRICTNESS[a.mode],
      );
  }

  /** `isForColumn`: a pattern for columns decided, so a person meant this column. */
  modeOf(column: ColumnIdentity): { mode: SampleMode; isForColumn: boolean } {
    const rule = this.#rules.find((each) => matches(each, column));
    return { mode: rule?.mode ?? "values", isForColumn: rule?.parts.length === 4 };
  }

  /** Patterns for a connection that match none of its columns: probably misspelt. */
  unmatched(connection: string, columns: readonly ColumnIdentity[]): string[] {
    return this.#rules
      .filter(({ parts: [first, ...rest] }) => rest.length > 0 && first!.test(connection))
      .filter((rule) => !columns.some((column) => matches(rule, column)))
      .map(({ pattern }) => pattern);
  }
}

function matches({ parts }: Rule, { connection, schema, table, column }: ColumnIdentity): boolean {
  const names = [connection, schema, table, column];
  return parts.every((part, at) => part.test(names[at]!));
}

/** Ignores case: a rule for `Email` is meant for `email`, too. */
const globOf = (part: string): RegExp =>
  new RegExp(
    `^${part
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
    "isu",
  );
