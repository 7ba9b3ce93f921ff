import { TandemError, type ClientEvent } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

type DefineOutcome = Extract<ClientEvent, { type: "user.define_outcome" }>;

export interface OutcomeOptions {
  outcome?: string;
  rubric?: string;
  maxIterations?: string;
  gradeCommand?: string;
}

const MOST = 20;

/** The outcome that the options of `tandem run` define; undefined without `--outcome`. */
export async function readOutcome(
  cwd: string,
  words: readonly string[],
  { outcome, rubric, maxIterations, gradeCommand }: OutcomeOptions,
): Promise<DefineOutcome | undefined> {
  if (outcome === undefined) {
    const flag = Object.entries({ rubric, "max-iterations": maxIterations, "grade-command": gradeCommand });
    const stray = flag.find(([, value]) => value !== undefined)?.[0];
    if (stray === undefined) return undefined;
    throw usage(`--${stray} needs an outcome.`, "Add --outcome with what the agent should produce.");
  }
  if (words.length > 0) throw usage("There is a prompt besides --outcome.", "Put the whole task into --outcome.");
  if (rubric === undefined && gradeCommand === undefined) {
    throw usage("The outcome has no rubric.", "Add --rubric with a file of criteria, or --grade-command.");
  }
  if (maxIterations !== undefined && !(/^\d+$/.test(maxIterations) && +maxIterations >= 1 && +maxIterations <= MOST)) {
    throw usage(`--max-iterations is ${JSON.stringify(maxIterations)}.`, `Give a number from 1 to ${MOST}.`);
  }
  return {
    type: "user.define_outcome",
    description: outcome,
    rubric: {
      type: "text",
      content: rubric === undefined ? `\`${gradeCommand}\` ends with exit code 0.` : await readRubric(cwd, rubric),
    },
    ...(maxIterations !== undefined && { max_iterations: Number(maxIterations) }),
    ...(gradeCommand !== undefined && { tandem: { grader: { type: "command", command: gradeCommand } } }),
  };
}

async function readRubric(cwd: string, path: string): Promise<string> {
  try {
    return await readFile(resolve(cwd, path), "utf8");
  } catch (cause) {
    throw new TandemError("usage", `The rubric ${path} cannot be read.`, { fix: "Name a text file.", cause });
  }
}

const usage = (message: string, fix: string): TandemError => new TandemError("usage", message, { fix });
