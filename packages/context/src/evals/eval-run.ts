import {
  type EvalArm,
  type EvalChecks,
  type EvalReport,
  type EvalResult,
  type EvalTrial,
  inParallel,
} from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import type { Run } from "../runs/job-run.ts";
import { armTools, schemaText } from "./arm-tools.ts";
import { checkEvals } from "./check-evals.ts";
import { EVAL_SYSTEM, type EvalAgent, evalPrompt } from "./eval-agent.ts";
import { type EvalContext, toolsOf } from "./eval-context.ts";
import type { EvalDatabases } from "./eval-databases.ts";
import { gradeAnswer } from "./grade-answer.ts";
import type { AskedQuestion } from "./load-evals.ts";
import { type Recording, Recordings, type TrialIdentity } from "./recordings.ts";

/** The parts of a run that plan and check evals. */
export type EvalProgress = Pick<Run, "signal" | "emit" | "modelOf">;

/** Questions that are asked at the same time; the runtime limits the requests. */
const AT_ONCE = 4;

export interface EvalRunParts {
  run: EvalProgress;
  /** Follows the names of stages, if there are several runs. */
  label: string;
  context: EvalContext;
  databases: EvalDatabases;
  questions: readonly AskedQuestion[];
  records: Records;
  space: string;
  arms: readonly EvalArm[];
  /** Overrides the files' number of trials. */
  trials: number | undefined;
}

interface Trial {
  asked: AskedQuestion;
  arm: EvalArm;
  identity: TrialIdentity;
  hasMetrics: boolean;
  recording: Recording | undefined;
  isRecorded: boolean;
}

/** The questions of a run on one state of the context: checks, then trials from recordings or a model, then marks. */
export class EvalRun {
  readonly #parts: EvalRunParts;
  readonly #recordings: Recordings;
  #trials: Trial[] = [];

  constructor(parts: EvalRunParts) {
    this.#parts = parts;
    this.#recordings = new Recordings(parts.records, parts.space);
  }

  async check(): Promise<EvalChecks> {
    const { run, context, databases, questions, label } = this.#parts;
    run.emit({ type: "stage_started", stage: `check${label}`, total: questions.length });
    const checks = await checkEvals(questions, {
      tools: (asOf) => context.tools(context.search(), asOf),
      catalogue: context.catalogue,
      databases,
      signal: run.signal,
      onChecked: (done) => this.#progress("check", done, questions.length, null),
    });
    const counts = { questions: questions.length, "broken gold": checks.gold.missed.length };
    run.emit({ type: "stage_finished", stage: `check${label}`, counts });
    return checks;
  }

  /** Plans all trials of questions with a usable gold answer, and finds the recordings that are still valid. */
  async plan({ gold }: EvalChecks): Promise<void> {
    const { run, questions, arms, label } = this.#parts;
    const broken = new Set(gold.missed.map(({ file, question }) => `${file}#${question}`));
    const wanted = questions
      .filter(({ path, question }) => !broken.has(`${path}#${question.id}`))
      .flatMap((asked) =>
        arms.flatMap((arm) =>
          Array.from({ length: this.#parts.trials ?? asked.file.trials }, (_, trial) => ({ asked, arm, trial })),
        ),
      );
    run.emit({ type: "stage_started", stage: `recordings${label}`, total: wanted.length });
    const schemas = new Map<string, Promise<string>>();
    this.#trials = [];
    for (const [index, each] of wanted.entries()) {
      run.signal.throwIfAborted();
      this.#trials.push(await this.#planned(each.asked, each.arm, each.trial, schemas));
      this.#progress("recordings", index + 1, wanted.length, null);
    }
    const counts = { valid: this.recorded, missing: this.missing.length };
    run.emit({ type: "stage_finished", stage: `recordings${label}`, counts });
  }

  async #planned(
    asked: AskedQuestion,
    arm: EvalArm,
    trial: number,
    schemas: Map<string, Promise<string>>,
  ): Promise<Trial> {
    const { run, context, databases } = this.#parts;
    const { connection, asOf } = asked.file;
    const reading = schemas.get(connection) ?? databases.structure(connection).then(schemaText);
    schemas.set(connection, reading);
    const tools = armTools(arm, toolsOf(context, arm, asked), { databases, connection });
    const prompt = evalPrompt({
      ask: asked.question.ask,
      connection,
      dialect: await databases.dialect(connection),
      asOf,
      schema: await reading,
    });
    const identity = { model: run.modelOf("default"), system: EVAL_SYSTEM, prompt, tools, arm, trial };
    const recording = await this.#recordings.find(identity, run.signal);
    const hasMetrics = tools.some(({ name }) => name === "metric_query");
    return { asked, arm, identity, hasMetrics, recording, isRecorded: recording !== undefined };
  }

  get recorded(): number {
    return this.#trials.filter(({ isRecorded }) => isRecorded).length;
  }

  /** Trials that only a model can answer. */
  get missing(): Trial[] {
    return this.#trials.filter(({ isRecorded }) => !isRecorded);
  }

  /** Asks the model. Each answer is stored at once, so that an interrupted run loses none. Returns the number of answers. */
  async ask(agent: EvalAgent): Promise<number> {
    const { run, label } = this.#parts;
    const { missing } = this;
    if (missing.length === 0) return 0;
    run.emit({ type: "stage_started", stage: `ask${label}`, total: missing.length });
    let done = 0;
    await inParallel(missing, AT_ONCE, async (trial) => {
      const item = `${trial.asked.question.id} (${trial.arm})`;
      trial.recording = await agent.ask(item, trial.identity, trial.hasMetrics);
      if (trial.recording) await this.#recordings.save(trial.identity, trial.recording);
      done += 1;
      this.#progress("ask", done, missing.length, item);
    });
    const answered = missing.filter(({ recording }) => recording !== undefined).length;
    run.emit({ type: "stage_finished", stage: `ask${label}`, counts: { answered, failed: missing.length - answered } });
    return answered;
  }

  async grade(): Promise<EvalReport["results"]> {
    const { context, databases } = this.#parts;
    const results = new Map<string, EvalResult>();
    for (const { asked, arm, recording, isRecorded } of this.#trials) {
      const { path: file, question } = asked;
      const { id, tags, ask } = question;
      const key = JSON.stringify([file, id, arm]);
      const result = results.get(key) ?? { file, question: id, arm, tags, ask, trials: [] as EvalTrial[] };
      results.set(key, result);
      if (!recording) continue;
      const { answer, steps, inputTokens, outputTokens, usd } = recording;
      const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
      const metrics = context.tools(context.search(), asked.file.asOf);
      const grade = await gradeAnswer(asked, answer, { databases, catalogue: context.catalogue, tools: metrics });
      result.trials.push({ ...grade, steps, ...tokens, usd, recorded: isRecorded });
    }
    return [...results.values()];
  }

  #progress(stage: string, done: number, total: number, item: string | null): void {
    const { run, label } = this.#parts;
    run.emit({ type: "stage_progress", stage: `${stage}${label}`, done, total, item });
  }
}
