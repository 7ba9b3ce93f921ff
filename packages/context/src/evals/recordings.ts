import { createHash } from "node:crypto";
import type { EvalArm } from "@tandem/protocol";
import type { Tool } from "@tandem/runtime";
import type { Records } from "@tandem/storage";
import { z } from "zod";
import { hashOf } from "../hash-of.ts";
import { evalAnswer } from "./eval-answer.ts";

const KIND = "eval_recording";
/** Recordings of one trial, one for each state of the context in which its tools answered differently. */
const MOST_KEPT = 4;

const recording = z.object({
  calls: z.array(z.object({ tool: z.string(), input: z.unknown(), output: z.string() })),
  /** Null: the agent ended without one. */
  answer: evalAnswer.nullable(),
  steps: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  usd: z.number().nullable(),
});
export type Recording = z.output<typeof recording>;
export type RecordedCall = Recording["calls"][number];

/** Identity of a trial: the model, and everything that it saw before its first tool call. */
export interface TrialIdentity {
  model: string;
  system: string;
  prompt: string;
  tools: readonly Tool[];
  arm: EvalArm;
  trial: number;
}

/**
 * The answers of earlier runs. A model sees the context only through its tools, so a recording is still valid if all of
 * its tool calls give the same output again. A change of the context thus costs only the questions that it touches.
 */
export class Recordings {
  readonly #records: Records;
  readonly #space: string;

  constructor(records: Records, space: string) {
    this.#records = records;
    this.#space = space;
  }

  async find(identity: TrialIdentity, signal: AbortSignal): Promise<Recording | undefined> {
    for (const candidate of await this.#read(keyOf(identity))) {
      if (await isValid(candidate, identity.tools, signal)) return candidate;
    }
    return undefined;
  }

  async save(identity: TrialIdentity, made: Recording): Promise<void> {
    const key = keyOf(identity);
    const calls = hashOf(made.calls);
    const others = (await this.#read(key)).filter((each) => hashOf(each.calls) !== calls);
    const value = [made, ...others].slice(0, MOST_KEPT);
    await this.#records.write(this.#space, [{ type: "put", kind: KIND, key, value }]);
  }

  async #read(key: string): Promise<Recording[]> {
    const stored = await this.#records.get(this.#space, KIND, key);
    // A recording in the format of an older version is made again.
    return z.array(recording).safeParse(stored?.value).data ?? [];
  }
}

async function isValid({ calls }: Recording, tools: readonly Tool[], signal: AbortSignal): Promise<boolean> {
  for (const { tool: name, input, output } of calls) {
    signal.throwIfAborted();
    const tool = tools.find((each) => each.name === name);
    if (!tool || (await outputOf(tool, input, signal)) !== output) return false;
  }
  return true;
}

/** Records the calls of these tools in `calls`. */
export const recorded = (tools: readonly Tool[], calls: RecordedCall[]): Tool[] =>
  tools.map((tool) => ({
    ...tool,
    execute: async (input, context) => {
      try {
        const result = await tool.execute(input, context);
        calls.push({ tool: tool.name, input, output: fingerprint(result.markdown) });
        return result;
      } catch (error) {
        context.signal.throwIfAborted();
        calls.push({ tool: tool.name, input, output: fingerprint(String(error)) });
        throw error;
      }
    },
  }));

async function outputOf(tool: Tool, input: unknown, signal: AbortSignal): Promise<string> {
  try {
    return fingerprint((await tool.execute(input, { signal })).markdown);
  } catch (error) {
    signal.throwIfAborted();
    return fingerprint(String(error));
  }
}

const fingerprint = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

const keyOf = ({ model, system, prompt, tools, arm, trial }: TrialIdentity): string =>
  hashOf([
    model,
    system,
    prompt,
    arm,
    trial,
    tools.map(({ name, description, schema }) => [name, description, z.toJSONSchema(schema, { io: "input" })]),
  ]);
