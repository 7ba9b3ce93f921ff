import { nearest } from "@tandem/protocol";
import type { z } from "zod";

type Issue = z.core.$ZodIssue;
type UnionIssue = Extract<Issue, { code: "invalid_union" }>;

const MOST = 3;
/** Field names come from the client and may be as long as the body. */
const LONGEST = 300;

/** Describes the first few validation errors: the field and the expected value. */
export function describeIssues(
  issues: readonly Issue[],
  { noun, known }: { noun: string; known?: readonly string[] },
): string {
  // Unknown fields first: a misspelled field often explains a missing one.
  const sorted = issues.toSorted((a, b) => Number(isUnknown(b)) - Number(isUnknown(a)));
  const faults = sorted.flatMap((issue) => faultsOf(issue, noun, known ?? []));
  const shown = faults
    .slice(0, MOST)
    .map((fault) => `${fault.length > LONGEST ? `${fault.slice(0, LONGEST)}…` : fault}.`);
  const more = faults.length - shown.length;
  return [...shown, ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
}

const isUnknown = ({ code }: Issue): boolean => code === "unrecognized_keys";

function faultsOf(issue: Issue, noun: string, known: readonly string[]): string[] {
  const place = placeOf(issue.path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => {
        const guess = issue.path.length === 0 ? nearest(key, known) : undefined;
        return `${placeOf([...issue.path, key])}: not a known ${noun}${guess ? ` (did you mean ${guess}?)` : ""}`;
      });
    case "invalid_union":
      return faultsOfUnion(issue, noun);
    case "invalid_type":
      return [`${place}: ${issue.message.endsWith("undefined") ? "is missing; " : ""}expected ${issue.expected}`];
    case "invalid_value":
      return [`${place}: expected ${oneOf(issue.values)}`];
    case "too_big":
    case "too_small":
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return [`${place}: ${uncapitalised(issue.message)}`];
  }
}

/** Reports the best matching branch of a union: the one with the right tag, else the one with the fewest errors. */
function faultsOfUnion(issue: UnionIssue, noun: string): string[] {
  const place = placeOf(issue.path);
  if (issue.errors.length === 0) {
    const { options } = issue as { options?: readonly unknown[] };
    return [`${place}: expected ${options ? oneOf(options) : "another value"}`];
  }
  const best = issue.errors.toSorted((a, b) => distance(a) - distance(b))[0]!;
  const kinds = new Set(issue.errors.flatMap(wantedKind));
  if (kinds.size === issue.errors.length) return [`${place}: expected ${[...kinds].join(" or ")}`];
  return best.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, noun, []));
}

/** The type that a branch expected, if the value has a different type altogether. */
function wantedKind([first, ...others]: readonly Issue[]): string[] {
  const isKind = first?.code === "invalid_type" && first.path.length === 0 && others.length === 0;
  return isKind ? [first.expected] : [];
}

function distance(branch: readonly Issue[]): number {
  const missesTag = branch.some(({ code, path }) => code === "invalid_value" && path.at(-1) === "type");
  const isOfOtherKind = branch.some(({ code, path }) => code === "invalid_type" && path.length === 0);
  return branch.length + (missesTag ? 100 : 0) + (isOfOtherKind ? 1_000 : 0);
}

/** For example `events[0].content`; the body itself if the path is empty. */
function placeOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "The body";
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i > 0 ? "." : ""}${String(step)}`))
    .join("");
}

function oneOf(values: readonly unknown[]): string {
  const names = values.map((value) => (typeof value === "string" ? `"${value}"` : String(value)));
  return names.length === 1 ? names[0]! : `one of ${names.join(", ")}`;
}

const uncapitalised = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
