import type { EvalChecks, EvalComparison, EvalReport, EvalScore } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, table } from "../terminal.ts";

/** Failed trials and missed keys that a report names. */
const MOST_NAMED = 20;

/** A report for a terminal: checks, scores, failed questions, and what was missed. */
export function describeReport({ stdout }: Pick<Invocation, "stdout">, report: EvalReport): string[] {
  const { bold, dim, good, bad } = styleFor(stdout);
  const lines = [bold("Without a model"), ...describeChecks(report.checks).map((line) => `  ${line}`)];
  if (report.scores.length > 0) {
    lines.push(
      "",
      `${bold("Answers")} ${dim(`by ${report.model ?? "no model"}; 95 % Wilson intervals over questions`)}`,
    );
    lines.push(...scoreTable(report.scores).map((line) => `  ${line}`));
    lines.push(`  ${dim(sourcesOf(report))}`);
    const failed = failedTrials(report);
    if (failed.length > 0) lines.push("", bold("Not passed"), ...failed.map((line) => `  ${printable(line)}`));
  }
  if (report.comparison) lines.push("", ...describeComparison({ stdout }, report.comparison));
  lines.push("");
  if (report.missed.length === 0) lines.push(good("All thresholds are met."));
  else lines.push(bad("Missed:"), ...report.missed.map((line) => `  ${printable(line)}`));
  return lines;
}

function describeChecks(checks: EvalChecks): string[] {
  const { gold, finds, values, joins, perturbed, discriminating } = checks;
  const rows = (
    [
      ["gold answers", gold],
      ["retrieval recall@10", finds],
      ["values found", values],
      ["join paths", joins],
    ] as const
  ).filter(([, { wanted }]) => wanted > 0);
  const lines = table(
    rows.map(([name, { found, wanted }]) => [name, `${found}/${wanted}`, percent(wanted === 0 ? 1 : found / wanted)]),
  );
  if (perturbed.wanted > 0) {
    lines.push(
      `perturbed copy: ${perturbed.found}/${perturbed.wanted} gold statements run, ${discriminating} have other rows`,
    );
  }
  const missed = [gold, finds, values, joins].flatMap((tally) => tally.missed);
  lines.push(...missed.slice(0, MOST_NAMED).map(({ question, message }) => printable(`- ${question}: ${message}`)));
  if (missed.length > MOST_NAMED) lines.push(`- and ${missed.length - MOST_NAMED} more`);
  return lines;
}

function scoreTable(scores: readonly EvalScore[]): string[] {
  const head = ["arm", "tag", "questions", "pass@1", "", `pass^k`, "", "wrong but confident", "", "tokens", "cost"];
  const rows = scores.map((score) => [
    score.arm,
    score.tag ?? "all",
    `${score.questions}×${Math.round(score.trials / Math.max(1, score.questions))}`,
    ...interval(score.pass_at_1),
    ...interval(score.pass_hat_k),
    ...interval(score.wrong_but_confident),
    score.tokens.toLocaleString("en-US"),
    score.usd === null ? "unknown" : `$${score.usd.toFixed(4)}`,
  ]);
  return table([head, ...rows]);
}

const interval = ({ value, low, high }: EvalScore["pass_at_1"]): [string, string] => [
  percent(value),
  `${Math.round(low * 100)}–${Math.round(high * 100)}`,
];

const sourcesOf = ({ asked, recorded, scores }: EvalReport): string => {
  const k = scores[0]?.k ?? 1;
  return `${asked} trials asked, ${recorded} from recordings; k = ${k}`;
};

function failedTrials({ results }: EvalReport): string[] {
  const failed = results.flatMap(({ question, arm, trials }) =>
    trials.flatMap((trial, index) =>
      trial.passed ? [] : [`${question} (${arm}, trial ${index + 1}): ${trial.outcome}: ${trial.reason ?? ""}`],
    ),
  );
  const more = failed.length - MOST_NAMED;
  return [
    ...failed.slice(0, MOST_NAMED),
    ...(more > 0 ? [`and ${more} more; tandem evals show --json lists all`] : []),
  ];
}

/** Lists the questions that a change fixes and breaks. */
export function describeComparison({ stdout }: Pick<Invocation, "stdout">, comparison: EvalComparison): string[] {
  const { bold, good, bad, dim } = styleFor(stdout);
  const { fixes, breaks, changed, compared, missing } = comparison;
  const line = ({ question, arm, before, after, reason }: EvalComparison["fixes"][number]) =>
    printable(
      `${question}${arm === null ? "" : ` (${arm})`}: ${before} → ${after}${reason === null ? "" : `: ${reason}`}`,
    );
  return [
    bold(`Fixes ${fixes.length}, breaks ${breaks.length}`) +
      dim(` of ${compared} compared${missing.length > 0 ? `; ${missing.length} only in one run` : ""}`),
    ...fixes.map((each) => `  ${good("+")} ${line(each)}`),
    ...breaks.map((each) => `  ${bad("-")} ${line(each)}`),
    ...changed.map((each) => `  ${dim("~")} ${line(each)}`),
  ];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
