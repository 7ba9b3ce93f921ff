import type { EvalReport, EvalArm } from "@tandem/protocol";
import type { DatabaseLocation, Connection } from "@tandem/connectors";
import type { Embedder } from "@tandem/runtime";
import type { Store } from "@tandem/storage";
import type { Knowledge } from "../knowledge.ts";
import type { Run } from "../runs/job-run.ts";
import type { Budget } from "../runs/metered-llm.ts";
import { requireWithinLimit, type Estimate, estimateUsd } from "../runs/spending-limit.ts";
import { compareChecks, compareRuns } from "./compare-runs.ts";
import { EvalAgent } from "./eval-agent.ts";
import type { EvalParams } from "./eval-params.ts";
import { EvalDatabases } from "./eval-databases.ts";
import { type EvalProgress, EvalRun } from "./eval-run.ts";
import { loadEvals, questionsOf } from "./load-evals.ts";
import { missedThresholds } from "./missed-thresholds.ts";
import { type CreateTools, openEvalContext, openScratchStore } from "./open-eval-context.ts";
import { PerturbedDatabases } from "./perturbed-databases.ts";
import { scoreEvals } from "./score-evals.ts";
import { withProposal } from "./with-proposal.ts";

export interface EvalsInput {
  context: Pick<Knowledge, "id" | "folder" | "proposals" | "user">;
  store: Store;
  embedder: Embedder | undefined;
  createTools: CreateTools;
  connect: (name: string) => Promise<Connection>;
  locate: (name: string) => Promise<DatabaseLocation>;
  params: EvalParams;
  /** The estimate above which nothing is asked. */
  limit: Budget | undefined;
}

export type EvalPlan = { requests: number; usd: number | null; questions: number; trials: number; recorded: number };

/** Runs evals, with a proposal on both states of the context. */
export async function runEvals(run: Run, input: EvalsInput): Promise<EvalReport> {
  // A proposal is also compared without a model, by the checks alone.
  const isAsked = input.params.ask && !(input.params.proposal !== undefined && run.llm === undefined);
  const params = { ...input.params, ask: isAsked };
  await using parts = new AsyncDisposableStack();
  const prepared = await prepare(run, input, parts);
  const { states, files, questions } = prepared;
  const model = run.modelOf("default");
  let asked = 0;
  if (params.ask) {
    for (const { evals, checks } of states) await evals.plan(checks);
    requireWithinLimit("eval run", estimateOf(model, states), input.limit);
    const agent = new EvalAgent(run);
    if (states.some(({ evals }) => evals.missing.length > 0) && agent.stopped) throw agent.stopped;
    for (const { evals } of states) asked += await evals.ask(agent);
  }
  const graded = [];
  for (const { evals, checks } of states) graded.push({ checks, results: await evals.grade() });
  const [last, before] = [graded.at(-1)!, graded.length > 1 ? graded[0] : undefined];
  const report: EvalReport = {
    files: files.map(({ path }) => path),
    model: params.ask ? model : null,
    arms: params.ask ? params.arms : [],
    proposal: params.proposal ?? null,
    checks: last.checks,
    results: last.results,
    scores: scoreEvals(last.results, Math.max(1, ...files.map(({ file }) => params.trials ?? file.trials))),
    asked,
    recorded: states.reduce((sum, { evals }) => sum + evals.recorded, 0),
    missed: [],
    comparison: before ? compareChecks(before.checks, last.checks, compareRuns(before.results, last.results)) : null,
  };
  return { ...report, missed: missedThresholds(files, questions, report) };
}

/** Estimates the requests and the cost of a run. Checks gold answers and recordings, but asks no model. */
export async function planEvals(run: EvalProgress, input: EvalsInput): Promise<EvalPlan> {
  await using parts = new AsyncDisposableStack();
  const { states, questions } = await prepare(run, input, parts);
  if (input.params.ask) for (const { evals, checks } of states) await evals.plan(checks);
  const recorded = states.reduce((sum, { evals }) => sum + evals.recorded, 0);
  const missing = states.reduce((sum, { evals }) => sum + evals.missing.length, 0);
  const estimate = estimateOf(run.modelOf("default"), states);
  return { ...estimate, questions: questions.length, trials: recorded + missing, recorded };
}

async function prepare(run: EvalProgress, input: EvalsInput, owned: AsyncDisposableStack) {
  const { context, store, createTools, params } = input;
  const { folder, user, id: space } = context;
  const files = await loadEvals(folder, params.files);
  const questions = questionsOf(files, params.tags);
  // Both states must search alike, and vectors of a proposal's text would have to be bought.
  const embedder = params.proposal === undefined ? input.embedder : undefined;
  const contexts = [openEvalContext({ folder, store, createTools, user, embedder })];
  if (params.proposal !== undefined) {
    const proposed = await withProposal(folder, context.proposals, params.proposal);
    const scratch = await openScratchStore(owned);
    contexts.push(openEvalContext({ folder: proposed, store: scratch, createTools, user, embedder }));
  }
  const copies = owned.use(new PerturbedDatabases(input.locate, contexts[0]!.catalogue));
  const opened = new Map<string, Promise<Connection>>();
  const open = (name: string) => {
    const opening = opened.get(name) ?? input.connect(name).then((connection) => owned.use(connection));
    opened.set(name, opening);
    return opening;
  };
  const connections = {
    open,
    openPerturbed: async (name: string, changes: Parameters<PerturbedDatabases["open"]>[2], signal: AbortSignal) =>
      await copies.open(name, await open(name), changes, signal),
  };
  const states = [];
  for (const [index, evalContext] of contexts.entries()) {
    const databases = new EvalDatabases(connections, run.signal);
    const { arms, trials } = params;
    const common = { run, databases, questions, records: store.records, space, arms, trials };
    const label = index === 0 ? "" : " with the proposal";
    const evals = new EvalRun({ ...common, label, context: evalContext });
    states.push({ evals, checks: await evals.check() });
  }
  return { states, files, questions };
}

const estimateOf = (model: string, states: readonly { evals: EvalRun }[]) =>
  estimateTrials(
    model,
    states.flatMap(({ evals }) => evals.missing.map(({ arm, identity }) => ({ arm, prompt: identity.prompt }))),
  );

/** Expected model requests of a trial. More tools mean more looking before the answer. */
const STEPS: Record<EvalArm, number> = { bare: 3, catalogue: 5, joins: 6, wiki: 7, metrics: 7, planted: 7 };

const TOKENS = { perCharacter: 0.3, tools: 2_500, perStep: 900, answer: 250 };

/** Estimates trials before they are asked. Each request repeats the conversation so far. */
function estimateTrials(model: string, trials: readonly { arm: EvalArm; prompt: string }[]): Estimate {
  let [requests, inputTokens, outputTokens] = [0, 0, 0];
  for (const { arm, prompt } of trials) {
    const steps = STEPS[arm];
    requests += steps;
    const first = prompt.length * TOKENS.perCharacter + TOKENS.tools;
    inputTokens += steps * first + (TOKENS.perStep * steps * (steps - 1)) / 2;
    outputTokens += steps * TOKENS.answer;
  }
  return { requests, usd: estimateUsd(model, { requests, inputTokens, outputTokens }) };
}
