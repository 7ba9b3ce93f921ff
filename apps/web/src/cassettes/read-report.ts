import {
  parseJson,
  type CassetteReport,
  type ComparisonReport,
  type ReplayReport,
  type ShownDivergence,
  type TestReport,
} from "@tandem/protocol";

/** Reads a report of `tandem cassettes replay`, `test` or `compare`. Throws a sentence for the user. */
export function readReport(text: string): CassetteReport {
  const value = parseJson(text);
  if (isReplay(value) || isTest(value) || isComparison(value)) return value;
  throw new Error(
    "The file is not a report. Write one with `tandem cassettes replay FILE --json`, `cassettes test` or `cassettes compare`.",
  );
}

/** The report that the address carries, as `tandem cassettes … --open` writes it: base64url of deflated JSON. */
export async function readReportLink(hash: string): Promise<CassetteReport | undefined> {
  const packed = /^#report=([\w-]+)$/.exec(hash)?.[1];
  if (packed === undefined) return undefined;
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")))
    .text()
    .catch(() => "");
  return readReport(text);
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string");
const has = (value: Fields, type: "string" | "number", ...names: string[]): boolean =>
  names.every((name) => typeof value[name] === type);

const isReplay = (value: unknown): value is ReplayReport =>
  isFields(value) &&
  value["report"] === "replay" &&
  has(value, "string", "file", "mode") &&
  has(value, "number", "steps") &&
  isDivergence(value["divergence"]);

const isDivergence = (value: unknown): value is ShownDivergence | null =>
  value === null ||
  (isFields(value) && has(value, "number", "step") && has(value, "string", "kind", "from") && areTexts(value["diff"]));

const isTest = (value: unknown): value is TestReport =>
  isFields(value) &&
  value["report"] === "test" &&
  Array.isArray(value["cases"]) &&
  value["cases"].every(
    (each: unknown) =>
      isFields(each) &&
      has(each, "string", "name") &&
      has(each, "number", "steps", "duration_ms") &&
      areTexts(each["failures"]) &&
      isDivergence(each["divergence"]),
  );

const isComparison = (value: unknown): value is ComparisonReport =>
  isFields(value) &&
  value["report"] === "comparison" &&
  areTexts(value["names"]) &&
  areTexts(value["different"]) &&
  [value["a"], value["b"]].every(isSummary) &&
  (value["files"] === null || typeof value["files"] === "string");

const isSummary = (value: unknown): boolean =>
  isFields(value) &&
  has(value, "string", "model") &&
  has(value, "number", "approvals", "tokens") &&
  (value["usd"] === null || typeof value["usd"] === "number") &&
  areTexts(value["answers"]) &&
  areTexts(value["tools"]) &&
  areTexts(value["results"]) &&
  (value["duration_ms"] === null || typeof value["duration_ms"] === "number");
