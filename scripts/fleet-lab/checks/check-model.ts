import { object, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { TakeoverModel } from "../takeover-model.ts";

const STEPS = /Please take (\d+) steps in ([\w-]+)\./;
const STEP_SECONDS = 0.5;
const CALLS = /Please make (\d+) calls in ([\w-]+)\./;
/** Long enough to kill the worker of a running call. */
const CALL_SECONDS = 5;

/** The model of the checks. A message says what it does; jobs of the context can be held back. */
export class CheckModel {
  /** Requests of context jobs so far. */
  jobRequests = 0;
  readonly takeovers = new TakeoverModel();
  #jobs = Promise.resolve();
  #calls = 0;

  /** Answers to jobs wait until the returned function is called. */
  holdJobs(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#jobs = promise;
    return resolve;
  }

  answer = async (request: ModelRequest): Promise<Reply> => {
    const said = JSON.stringify(request.messages);
    if (this.takeovers.concerns(request)) return this.takeovers.answer(request);
    const bash = request.toolNames.find((name) => /^bash$/i.test(name));
    if (said.includes("customers") && bash === undefined) {
      this.jobRequests += 1;
      await this.#jobs;
      const { answer } = object({ tables: [], joins: [] });
      return typeof answer === "function" ? answer(request) : answer;
    }
    if (bash === undefined) return text("Nothing to do.");
    const done = said.split(`"tool_result"`).length - 1;
    const [steps, calls] = [STEPS.exec(said), CALLS.exec(said)];
    if (calls) {
      const [, count = "0", name = ""] = calls;
      this.#calls += 1;
      if (done < Number(count)) return reply([toolUse(bash, { command: callCommand(name, this.#calls) })]);
    } else if (steps) {
      const [, count = "0", name = ""] = steps;
      if (done < Number(count)) return reply([toolUse(bash, { command: stepCommand(name) })]);
    } else if (request.lastUserText.includes("Please run a tool.") && request.toolResults.length === 0) {
      return reply([toolUse(bash, { command: "echo ran on $(hostname)" })]);
    }
    return text("One word follows another.");
  };
}

/** Each step leaves a line in the session's folder. */
const stepCommand = (name: string): string => `sleep ${STEP_SECONDS}; hostname >> ${stepsFile(name)}`;

/** Each call leaves its own number, so that a repeated one can be told from the next one. */
const callCommand = (name: string, number: number): string =>
  `echo ${number} >> ${stepsFile(name)}; sleep ${CALL_SECONDS}`;

/** The number of a call with the event of its tool use. */
export const callNumber = (event: object): string => /echo (\d+) >>/.exec(JSON.stringify(event))?.[1] ?? "none";

export const stepsFile = (name: string): string => `${name}.steps`;
