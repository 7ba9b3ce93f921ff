import { deflateRawSync } from "node:zlib";
import type { CassetteReport, ComparisonReport, ReplayReport, RunSummary } from "@tandem/protocol";

/** The path that `tandem cassettes … --open` opens. */
export const reportPath = (report: CassetteReport): string =>
  `/cassettes#report=${deflateRawSync(JSON.stringify(report)).toString("base64url")}`;

export const REPLAY: ReplayReport = {
  report: "replay",
  file: "login.cassette.jsonl",
  identical: false,
  mode: "recorded",
  steps: 3,
  divergence: {
    step: 2,
    kind: "call",
    expected: {},
    actual: {},
    from: "replay",
    diff: [
      "@@ -11,4 +11,4 @@",
      "   content:",
      "     - type: text",
      "-      text: Exit code 3",
      "+      text: Exit code 4",
    ],
  },
};

const RUN: RunSummary = {
  model: "claude-sonnet-5-5",
  answers: ["All 12 tests pass."],
  tools: ['Bash {"command":"npm test"}', 'Bash {"command":"echo two > notes.txt"}'],
  results: ["12 passed", ""],
  approvals: 0,
  usd: 0.00021,
  tokens: 45,
  duration_ms: 1_900,
};

export const COMPARISON: ComparisonReport = {
  report: "comparison",
  names: ["login.jsonl", "failing.jsonl"],
  a: RUN,
  b: {
    ...RUN,
    answers: ["Two tests fail."],
    tools: RUN.tools.slice(0, 1),
    results: ["2 failed"],
    usd: 0.00014,
    tokens: 30,
  },
  different: ["answers", "tools", "results", "usd", "tokens", "files"],
  files: [
    "diff --git a/notes.txt b/notes.txt",
    "index 814f4a4..5626abf 100644",
    "--- a/notes.txt",
    "+++ b/notes.txt",
    "@@ -1,2 +1 @@",
    " one",
    "-two",
    "",
  ].join("\n"),
};
