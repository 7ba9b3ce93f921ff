import { object, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";

const STEPS = /Please take (\d+) steps in ([\w-]+)\./;
const STEP_SECONDS = 0.5;

/** The model of the checks. A message says what it does; jobs of the context can be held back. */
export class CheckModel {
  /** Requests of context jobs so far. */
  jobRequests = 0;
  #jobs = Promise.resolve();

  /** Answers to jobs wait until the returned function is called. */
  holdJobs(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#jobs = promise;
    return resolve;
  }

  answer = async (request: ModelRequest): Promise<Reply> => {
    const said = JSON.stringify(request.messages);
    const bash = request.toolNames.find((name) => /^bash$/i.test(name));
    if (said.includes("customers") && bash === undefined) {
      this.jobRequests += 1;
      await this.#jobs;
      const { answer } = object({ tables: [], joins: [] });
      return typeof answer === "function" ? answer(request) : answer;
    }
    if (bash === undefined) return text("Nothing to do.");
    const steps = STEPS.exec(said);
    if (steps) {
      const [, count = "0", name = ""] = steps;
      const done = said.split(`"tool_result"`).length - 1;
      if (done < Number(count)) return reply([toolUse(bash, { command: stepCommand(name) })]);
    } else if (request.lastUserText.includes("Please run a tool.") && request.toolResults.length === 0) {
      return reply([toolUse(bash, { command: "echo ran on $(hostname)" })]);
    }
    return text("One word follows another.");
  };
}

/** Each step leaves a line in the session's folder. */
const stepCommand = (name: string): string => `sleep ${STEP_SECONDS}; hostname >> ${stepsFile(name)}`;

export const stepsFile = (name: string): string => `${name}.steps`;
