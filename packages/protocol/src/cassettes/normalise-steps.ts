import type { CassetteBlock, CassetteStep } from "./cassette.ts";

/** `recorded`: recorded model and tools, without a process. `real_tools`: recorded model, real Claude Code and tools. */
export type ReplayMode = "recorded" | "real_tools";

/** `same_run`: the steps of a cassette and those of its own events, whose inputs have the same places. */
export type StepComparison = ReplayMode | "same_run";

/** A step as runs are compared by it. */
export type NormalStep = { kind: CassetteStep["kind"] } & Record<string, unknown>;

// The rules by which two runs of a session count as the same. `docs/guides/cassettes.md` lists them.
//
// 1. Order of parallel calls: the calls of one answer are compared in the answer's order, whichever ended first (`stepsOf`).
// 2. Ids: a call has the model's id, which a replay keeps. Events, sessions, threads and messages have new ids in every run;
//    no step names them.
// 3. Paths: the session's folder is `<session-folder>`, and the folder of its plans `<plans-folder>`, in every text of a cassette.
// 4. Dates: no step has one.
// 5. Fields that do not describe behaviour are left out: `LEFT_OUT`.
// 6. Real tools only: dates, durations, ids, ports and temporary paths in the results of tools: `TEXT_RULES`. With recorded
//    tools, results are compared byte by byte.

/** Fields that are not compared, and why. */
const LEFT_OUT: Readonly<Record<CassetteStep["kind"], readonly (readonly [field: string, why: string])[]>> = {
  input: [
    ["during", "an approval may be asked for before or after the end of the answer"],
    ["after", "depends on which parallel call ended first"],
    ["event.tokens_after", "an estimate of Claude Code"],
  ],
  model: [["answer.usd", "prices belong to the version of Tandem; token counts are compared"]],
  call: [["verdict.why", "the sentence belongs to the version of Tandem; the permission is compared"]],
  idle: [
    ["usd", "as above"],
    ["error.message", "the sentence belongs to the version of Tandem; the type of the error is compared"],
  ],
};

/** Parts of a tool's result that differ between two runs of the same call. */
export const TEXT_RULES: readonly { name: string; pattern: RegExp; mark: string }[] = [
  {
    name: "date and time",
    pattern: /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?/g,
    mark: "<date>",
  },
  {
    name: "date of ls",
    pattern: /\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +(?:\d\d:\d\d(?::\d\d)?|\d{4})\b/g,
    mark: "<date>",
  },
  { name: "time", pattern: /\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, mark: "<time>" },
  { name: "duration of time", pattern: /\b\d+m\d+\.\d+s\b/g, mark: "<duration>" },
  { name: "duration", pattern: /\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds?|minutes?)\b/g, mark: "<duration>" },
  { name: "duration of a subagent", pattern: /\bduration_ms: \d+/g, mark: "duration_ms: <duration>" },
  { name: "id of a subagent", pattern: /\b(agentId: |to: ')[0-9a-z]{8,}\b/g, mark: "$1<id>" },
  { name: "UUID", pattern: /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, mark: "<id>" },
  { name: "id of Tandem", pattern: /\b(?:sesn|session|sevt|sthr|agent|env|ckpt)_[0-9A-Za-z]{16,}\b/g, mark: "<id>" },
  { name: "port", pattern: /\b(127\.0\.0\.1|localhost):\d{2,5}\b/g, mark: "$1:<port>" },
  { name: "temporary path", pattern: /(?<![\w/>])\/(?:tmp|var\/folders)\/[^\s"'`:,;)\]}]+/g, mark: "<temporary-path>" },
];

export function normaliseSteps(steps: readonly CassetteStep[], mode: StepComparison): NormalStep[] {
  return steps.map((step) => normaliseStep(step, mode));
}

function normaliseStep(given: CassetteStep, mode: StepComparison): NormalStep {
  const { step: _step, seq: _seq, ...rest } = mode === "real_tools" ? maskResults(given) : given;
  let normal: NormalStep = rest;
  const leftOut = mode === "same_run" && given.kind === "input" ? [] : LEFT_OUT[given.kind];
  for (const [path] of leftOut) normal = without(normal, path.split("."));
  return normal;
}

function maskResults(step: CassetteStep): CassetteStep {
  switch (step.kind) {
    case "call":
      return step.result && !step.custom
        ? { ...step, result: { ...step.result, content: step.result.content.map(maskBlock), crc32: "" } }
        : step;
    case "model": {
      const added = step.added.map((entry) =>
        entry.type === "tool_result" ? { ...entry, content: entry.content.map(maskBlock) } : entry,
      );
      return { ...step, added };
    }
    default:
      return step;
  }
}

const maskBlock = (block: CassetteBlock): CassetteBlock =>
  typeof block["text"] === "string" ? { ...block, text: maskText(block["text"]) } : block;

export const maskText = (text: string): string =>
  TEXT_RULES.reduce((masked, { pattern, mark }) => masked.replace(pattern, mark), text);

function without<T extends Record<string, unknown>>(value: T, [key, ...rest]: readonly string[]): T {
  if (key === undefined || !(key in value)) return value;
  const { [key]: inner, ...others } = value;
  if (rest.length === 0) return others as T;
  if (typeof inner !== "object" || inner === null) return value;
  return { ...value, [key]: without<Record<string, unknown>>({ ...inner }, rest) };
}
