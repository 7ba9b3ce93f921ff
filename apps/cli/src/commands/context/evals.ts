import { EVAL_ARMS, type EvalReport, evalReport, TandemError } from "@tandem/protocol";
import type { JobRow, Store } from "@tandem/storage";
import { loadContext, openContext, openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { openProject } from "@tandem/tandem/project";
import { type Command, Option } from "commander";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { describeComparison, describeReport } from "../../evals/describe-report.ts";
import { EXIT_CODES, exitCodeOf } from "../../exit-code.ts";
import { ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { runLimitedJob, withLimitOptions, limitParams, type LimitOptions } from "../../jobs/limit-options.ts";
import { toCount } from "../../number-options.ts";
import { printable, styleFor, table, writeResult } from "../../terminal.ts";
import { listOption, type Registration, subcommandsOf } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    withLimitOptions(sub("run", "Ask the questions of eval files and mark the answers."))
      .argument("[files...]", "names of files in the context's evals/ (default: all)")
      .addOption(
        listOption("--arms <arms>", `what the agent may use: ${EVAL_ARMS.join(", ")} (default: metrics)`, EVAL_ARMS),
      )
      .option("--trials <number>", "how often each question is asked (default: the file's `trials`)")
      .addOption(listOption("--tag <tags>", "only questions with one of these tags"))
      .option("--no-model", "only the parts without a model: gold answers, retrieval, values, joins")
      .option("--proposal <id>", "compare the context without this proposal and with it")
      .addOption(new Option("--max-cost <amount>", "the same as --max-usd").hideHelp())
      .addOption(json())
      .action(runner(runEvals)),
    "tandem evals run",
    "tandem evals run shop --arms bare,joins,metrics --trials 3",
    "tandem evals run --no-model",
    "tandem evals run --proposal prop_1 --max-usd 2",
  );
  examples(
    sub("list", "List eval files and the newest runs.").addOption(json()).action(runner(list)),
    "tandem evals list",
  );
  examples(
    sub("show", "Show the report of a run.")
      .argument("[run]", "id of a run, or a file with its JSON; `last` is the newest", "last")
      .addOption(json())
      .action(runner(show)),
    "tandem evals show",
    "tandem evals show last --json | jq '.results[] | select(.trials[].passed | not)'",
  );
  examples(
    sub("compare", "Compare two runs: which questions does the second one fix or break?")
      .argument("<before>", "id of a run, or a file with its JSON")
      .argument("[after]", "the same; `last` is the newest", "last")
      .addOption(json())
      .action(runner(compare)),
    "tandem evals compare job_1 last",
    "tandem evals compare before.json after.json",
  );
}

/** Time to save progress and end child processes. */
const STOP_MS = 3_000;

interface RunOptions extends LimitOptions {
  arms?: string[];
  trials?: string;
  tag?: string[];
  model: boolean;
  proposal?: string;
  maxCost?: string;
}

async function runEvals(invocation: Invocation, files: readonly string[], options: RunOptions): Promise<number> {
  const project = await openProject(invocation);
  invocation.allowToStop(STOP_MS);
  const { arms, trials, tag, model, proposal, maxCost } = options;
  const { row } = await runLimitedJob(invocation, project, {
    kind: "evals",
    params: {
      files,
      ask: model,
      ...(tag && { tags: tag }),
      ...(arms && { arms }),
      ...(trials !== undefined && { trials: toCount("--trials", trials) }),
      ...(proposal !== undefined && { proposal }),
      ...limitParams(maxCost === undefined ? options : { ...options, maxUsd: maxCost }),
    },
    command: "tandem evals run",
    title: "evals",
  });
  if (row.result === null || row.result === undefined) {
    throw new TandemError(row.error?.code ?? "failed", row.error?.message ?? `The run ended as ${row.state}.`, {
      ...(row.error?.fix !== undefined && { fix: row.error.fix }),
    });
  }
  const report = evalReport.parse(row.result);
  const { dim, warn } = styleFor(invocation.stdout);
  const partly =
    row.state === "partly" ? [warn(`Not all questions were asked. ${printable(row.error?.message ?? "")}`)] : [];
  const lines = [...describeReport(invocation, report), ...partly, dim(`Run ${row.id}`)];
  await writeResult(invocation, { id: row.id, ...report }, lines);
  if (row.state !== "done") return row.error ? exitCodeOf(row.error.code) : EXIT_CODES.failure.code;
  return report.missed.length > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

/** The newest runs that a list shows. */
const RUNS = 10;

async function list(invocation: Invocation): Promise<void> {
  const { files, runs } = await withEvals(invocation, async ({ store, project }) => {
    const library = await loadContext();
    const { id, folder } = await openContext(project, store);
    const { data } = await store.jobs.list({ space: id, kind: "evals", limit: RUNS });
    return { files: await library.listEvals(folder), runs: data };
  });
  const shown = runs.map(({ id, state, params, createdAt }) => ({ id, state, params, created_at: createdAt }));
  const { dim, bold, bad } = styleFor(invocation.stdout);
  const lines =
    files.length === 0
      ? [dim("No evals. Write questions to evals/NAME.yaml in the context's folder.")]
      : files.flatMap(({ path, connection, questions, tags, problems }) =>
          problems.length > 0
            ? problems.map((problem) => `${bold(path)}  ${bad(printable(problem))}`)
            : [
                `${bold(path)}  ${connection}, ${questions} questions  ${dim(
                  Object.entries(tags)
                    .map(([tag, n]) => `${tag} ${n}`)
                    .join(", "),
                )}`,
              ],
        );
  if (runs.length > 0)
    lines.push("", ...table(runs.map((row) => [row.id, row.state, shownScore(row), dim(ago(row.createdAt))])));
  await writeResult(invocation, { files, runs: shown }, lines);
}

function shownScore({ result }: JobRow): string {
  const report = evalReport.safeParse(result).data;
  if (!report) return "";
  const scores = report.scores.filter(({ tag }) => tag === null);
  if (scores.length === 0) return "without a model";
  return scores.map((score) => `${score.arm} ${Math.round(score.pass_at_1.value * 100)} %`).join(", ");
}

async function show(invocation: Invocation, run: string): Promise<void> {
  const report = await withEvals(invocation, (opened) => readReport(opened, run));
  await writeResult(invocation, report, describeReport(invocation, report));
}

async function compare(invocation: Invocation, before: string, after: string): Promise<void> {
  const comparison = await withEvals(invocation, async (opened) => {
    const { compareRuns } = await loadContext();
    const [first, second] = [await readReport(opened, before), await readReport(opened, after)];
    return compareRuns(first.results, second.results);
  });
  await writeResult(invocation, comparison, describeComparison(invocation, comparison));
}

interface OpenedEvals {
  cwd: string;
  project: Project;
  store: Store;
}

async function withEvals<T>(invocation: Invocation, work: (opened: OpenedEvals) => Promise<T>): Promise<T> {
  const project = await openProject(invocation);
  await using store = await openStore(invocation, project);
  return await work({ cwd: invocation.cwd, project, store });
}

async function readReport({ project, store, cwd }: OpenedEvals, run: string): Promise<EvalReport> {
  if (run.endsWith(".json")) return readReportFile(resolve(cwd, run));
  const { id } = await openContext(project, store);
  const row =
    run === "last"
      ? (await store.jobs.list({ space: id, kind: "evals", states: ["done", "partly"], limit: 1 })).data[0]
      : await store.jobs.get(run);
  const report = row?.kind === "evals" && row.space === id ? evalReport.safeParse(row.result).data : undefined;
  if (report) return report;
  throw new TandemError(
    "not_found",
    row ? `The run ${run} has no report: it is ${row.state}.` : `There is no run ${run}.`,
    {
      fix: "List the runs: tandem evals list",
    },
  );
}

async function readReportFile(path: string): Promise<EvalReport> {
  try {
    return evalReport.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    throw new TandemError("bad_file", `${path} is not the report of a run.`, {
      fix: "Write one: tandem evals run --json > before.json",
      cause,
    });
  }
}
