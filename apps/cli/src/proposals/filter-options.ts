import type { HunkFilter } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { type Command, Option } from "commander";
import { HUNK_KIND_CHOICES, HUNK_ORIGIN_CHOICES } from "../option-choices.ts";

export interface FilterOptions {
  kind?: HunkFilter["kinds"];
  origin?: HunkFilter["origins"];
  path?: string[];
  minConfidence?: string;
  certain?: boolean;
}

/** Adds the options that select hunks by their properties. Each may be repeated. */
export const withFilterOptions = (command: Command): Command =>
  command
    .addOption(repeatable("--kind <kind>", "only this kind of hunk (repeatable)", HUNK_KIND_CHOICES))
    .addOption(repeatable("--origin <origin>", "only hunks with this origin (repeatable)", HUNK_ORIGIN_CHOICES))
    .addOption(
      repeatable("--path <pattern>", "only these files or tables, such as 'sales.*' or 'wiki/finance/**' (repeatable)"),
    )
    .option("--min-confidence <number>", "only joins with at least this confidence, from 0 to 1")
    .option("--certain", "only joins that were verified in the data");

/** Commander's own choices accept one value per option, but not a list. */
function repeatable(flags: string, description: string, choices?: readonly string[]): Option {
  const option = new Option(flags, description);
  if (choices) option.choices(choices);
  const one = option.parseArg;
  return option.argParser((value: string, before: string[] | undefined) => {
    one?.(value, undefined as never);
    return [...(before ?? []), value];
  });
}

/** Undefined without any of the options. */
export function readFilter({ kind, origin, path, minConfidence, certain }: FilterOptions): HunkFilter | undefined {
  const filter: HunkFilter = {
    ...(kind && { kinds: kind }),
    ...(origin && { origins: origin }),
    ...(path && { paths: path }),
    ...(minConfidence !== undefined && { minConfidence: toConfidence(minConfidence) }),
    ...(certain && { certain }),
  };
  return Object.keys(filter).length > 0 ? filter : undefined;
}

function toConfidence(text: string): number {
  if (/^(0|1|0?\.\d{1,6}|1\.0+)$/.test(text)) return Number(text);
  throw new TandemError("usage", `--min-confidence is ${JSON.stringify(text)}.`, {
    fix: "Give a number from 0 to 1, such as 0.9.",
  });
}
