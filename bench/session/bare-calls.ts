import { z } from "zod";
import { treeCpuSeconds } from "../runtime/process-tree.ts";
import { Helper } from "../server/helper.ts";
import type { BareSample, Sample } from "./sample.ts";
import type { ToolName } from "./tool-call.ts";

const called = z.object({ firstMs: z.number(), wholeMs: z.number() });
const approved = z.object({ runningMs: z.number() });

/** Bare calls of the Agent SDK, without a sandbox, from a process that has loaded it. */
export class BareCalls implements AsyncDisposable {
  readonly #helper: Helper;

  constructor(url: string, folder: string) {
    this.#helper = new Helper("../session/bare-caller.ts", { url, folder }, folder);
  }

  /** One `query()`: a process starts, answers and exits. */
  call(): Promise<BareSample> {
    return this.#query("call");
  }

  /** The same with `resume`: the process continues the conversation of the last call. */
  resume(): Promise<BareSample> {
    return this.#query("resume");
  }

  /** From the answer of `canUseTool`, or of a hook before the tool, until the tool runs. */
  async approve(tool: ToolName, by: "canUseTool" | "hook" = "canUseTool"): Promise<Sample> {
    this.#helper.tell(`${tool} by ${by}`);
    return { value: (await this.#helper.hear(approved)).runningMs };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#helper[Symbol.asyncDispose]();
  }

  async #query(word: "call" | "resume"): Promise<BareSample> {
    const before = treeCpuSeconds(this.#helper.pid);
    this.#helper.tell(word);
    const { firstMs, wholeMs } = await this.#helper.hear(called);
    return { value: firstMs, wholeMs, cpuSeconds: treeCpuSeconds(this.#helper.pid) - before };
  }
}
