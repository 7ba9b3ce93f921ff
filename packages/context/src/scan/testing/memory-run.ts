import { newId, type TandemError } from "@tandem/protocol";
import type { LlmRuntime } from "@tandem/runtime";
import type { z } from "zod";
import type { Run, RunEvent } from "../../runs/job-run.ts";

/** A run with steps in memory, for testing stages alone. */
export class MemoryRun implements Run {
  readonly job = newId("job");
  readonly events: RunEvent[] = [];
  readonly skipped: { stage: string; item: string; code: string; message: string }[] = [];
  readonly llm: LlmRuntime | undefined;
  readonly signal: AbortSignal;
  readonly steps: Map<string, unknown>;
  model = "model-1";

  constructor(llm?: LlmRuntime, { steps = new Map<string, unknown>(), signal = new AbortController().signal } = {}) {
    this.llm = llm;
    this.steps = steps;
    this.signal = signal;
  }

  modelOf(): string {
    return this.model;
  }

  emit(event: RunEvent): void {
    this.events.push(event);
  }

  async step<S extends z.ZodType>(
    kind: string,
    inputs: unknown,
    schema: S,
    compute: () => Promise<z.input<S>>,
  ): Promise<z.output<S>> {
    const key = `${kind} ${JSON.stringify(inputs)}`;
    if (!this.steps.has(key)) this.steps.set(key, await compute());
    return schema.parse(this.steps.get(key));
  }

  skip(stage: string, item: string, { code, message }: TandemError): void {
    this.skipped.push({ stage, item, code, message });
  }
}
