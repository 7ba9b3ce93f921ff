import type { Value } from "@tandem/connectors";
import type { SampleMode } from "@tandem/protocol";
import type { ColumnProfile } from "@tandem/relationships";
import { type PersonalKind, personalData } from "./personal-data.ts";
import { holdsPersonalData } from "./personal-values.ts";
import type { ColumnIdentity, SamplePolicy } from "./sample-policy.ts";
import { shapesOf } from "./value-shape.ts";

/** The part of a column's values that may be stored. */
export interface Storage {
  mode: SampleMode;
  /** A pattern for this column allows its values, personal or not. */
  isAllowed: boolean;
  /** The kind of personal data that was detected. */
  personal: PersonalKind | undefined;
}

/**
 * Decides what of a column may be stored or shown to a model: a pattern for the column first, then shapes for personal data,
 * then the patterns for its table and connection.
 */
export function storageOf(
  policy: SamplePolicy,
  column: ColumnIdentity & { type: string; personal?: PersonalKind | undefined },
  values: readonly Value[],
): Storage {
  const { mode, isForColumn } = policy.modeOf(column);
  if (isForColumn && mode === "values") return { mode, isAllowed: true, personal: undefined };
  const personal = column.personal ?? personalData({ ...column, values });
  return { mode: personal && mode === "values" ? "shapes" : mode, isAllowed: false, personal };
}

/** A column's profile as it may be stored and shown. */
export interface StorableProfile extends ColumnProfile {
  /** Absent for values. */
  stored?: Exclude<SampleMode, "values">;
  personal?: PersonalKind;
  /** The forms of the values, most frequent first. */
  shapes?: readonly string[];
}

/**
 * The part of a profile that may be stored. Lists the allowed fields, so that a new field of the profile does not leak. Single
 * values with an e-mail address, an account or a secret in them are left out of free text.
 */
export function storableProfile(profile: ColumnProfile, { mode, isAllowed, personal }: Storage): StorableProfile {
  if (isAllowed) return profile;
  if (mode === "values") return withoutPersonalValues(profile);
  const { name, nulls, distinct, unique, lengths, domain } = profile;
  const counts = {
    name,
    nulls,
    distinct: domain?.values.length ?? distinct,
    unique,
    samples: [],
    stored: mode,
    ...(personal && { personal }),
  };
  return mode === "none" ? counts : { ...counts, shapes: shapesOf(valuesOf(profile)), ...(lengths && { lengths }) };
}

/** All known values of a column. */
export const valuesOf = ({ samples, domain }: Pick<ColumnProfile, "samples" | "domain">): readonly Value[] =>
  domain ? domain.values : samples;

function withoutPersonalValues(profile: ColumnProfile): ColumnProfile {
  const isKept = (value: Value) => typeof value !== "string" || !holdsPersonalData(value);
  const { samples, domain, ...rest } = profile;
  const isWhole = domain?.values.every(isKept) ?? true;
  if (isWhole && samples.every(isKept)) return profile;
  // A domain without some of its values is none.
  return { ...rest, samples: samples.filter(isKept), ...(domain && isWhole && { domain }) };
}
