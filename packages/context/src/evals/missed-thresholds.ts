import { EVAL_ARMS, type EvalReport, type EvalTally } from "@tandem/protocol";
import type { AskedQuestion, LoadedEvals } from "./load-evals.ts";
import { scoreEvals } from "./score-evals.ts";

/** The thresholds of the files that a run misses, as sentences. A broken gold answer always counts. */
export function missedThresholds(
  files: readonly LoadedEvals[],
  questions: readonly AskedQuestion[],
  report: EvalReport,
): string[] {
  return files.flatMap(({ path, file: { pass } }) => [
    ...ofFile(report.checks.gold, path).map(({ question, message }) => `${path}: ${question}: ${message}`),
    ...missedTallies(
      path,
      pass,
      questions.filter((asked) => asked.path === path),
      report,
    ),
    ...missedScores(path, pass, report),
  ]);
}

function missedTallies(
  path: string,
  pass: LoadedEvals["file"]["pass"],
  questions: readonly AskedQuestion[],
  { checks }: EvalReport,
): string[] {
  return (["finds", "values", "joins"] as const).flatMap((name) => {
    const least = pass[name];
    const missed = ofFile(checks[name], path).length;
    const wanted = questions.reduce((sum, { question }) => sum + question[name].length, 0);
    if (least === undefined || wanted === 0) return [];
    const share = (wanted - missed) / wanted;
    return share >= least ? [] : [`${path}: ${name} is ${percent(share)}, at least ${percent(least)} is needed.`];
  });
}

function missedScores(path: string, pass: LoadedEvals["file"]["pass"], report: EvalReport): string[] {
  // The planted arm measures resistance; thresholds are about the others unless the file names it.
  const arm = pass.arm ?? EVAL_ARMS.filter((each) => each !== "planted").findLast((each) => report.arms.includes(each));
  const results = report.results.filter((result) => result.file === path && result.arm === arm);
  const [score] = scoreEvals(results, 1);
  if (!score || score.questions === 0) return [];
  const missed: string[] = [];
  if (pass.all !== undefined && score.pass_at_1.value < pass.all) {
    missed.push(
      `${path}: pass@1 is ${percent(score.pass_at_1.value)} with ${arm}, at least ${percent(pass.all)} is needed.`,
    );
  }
  if (pass.wrongButConfident !== undefined && score.wrong_but_confident.value > pass.wrongButConfident) {
    missed.push(
      `${path}: ${percent(score.wrong_but_confident.value)} of answers are wrong but confident with ${arm}, at most ${percent(pass.wrongButConfident)} are allowed.`,
    );
  }
  return missed;
}

const ofFile = ({ missed }: EvalTally, path: string) => missed.filter(({ file }) => file === path);

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
