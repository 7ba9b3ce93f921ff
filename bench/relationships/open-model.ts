import { newId, TandemError } from "@tandem/protocol";
import type { Run } from "@tandem/context";
import type { LlmRuntime } from "@tandem/runtime";
import type { z } from "zod";
import { jobModels } from "@tandem/tandem/compose";
import type { Host } from "@tandem/tandem";
import { openProject } from "@tandem/tandem/project";

/** The model of a project, as a scan of it would have it. */
export class BenchRun implements Run, AsyncDisposable {
  readonly job = newId("job");
  readonly signal = AbortSignal.timeout(6 * 60 * 60 * 1000);
  readonly llm: LlmRuntime;
  readonly modelOf: (role: string) => string;
  requests: () => number;
  /** Tables that the model could not be asked about, with the reason. */
  readonly skipped: string[] = [];

  constructor(llm: LlmRuntime, modelOf: (role: string) => string, requests: () => number) {
    this.llm = llm;
    this.modelOf = modelOf;
    this.requests = requests;
  }

  emit(): void {}

  /** Nothing is kept: a bench measures the model as it answers now. */
  async step<S extends z.ZodType>(
    _kind: string,
    _inputs: unknown,
    schema: S,
    compute: () => Promise<z.input<S>>,
  ): Promise<z.output<S>> {
    return schema.parse(await compute());
  }

  skip(_stage: string, item: string, { message }: TandemError): void {
    this.skipped.push(`${item}: ${message}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.llm.close();
  }
}

/** From the `tandem.yaml` of a folder; the settings there are trusted or not as for every command. */
export async function openModel(folder: string, env: Readonly<Record<string, string | undefined>>): Promise<BenchRun> {
  const host: Host = { version: "0.0.0", cwd: folder, env, signal: new AbortController().signal, project: folder };
  const { llm, modelOf } = await jobModels(host, await openProject(host));
  if (!llm) {
    throw new TandemError("invalid_request", "That project has no backend.", {
      fix: "Set llm.provider.backend in its tandem.yaml.",
    });
  }
  let requests = 0;
  return new BenchRun(await llm.open(() => (requests += 1)), modelOf, () => requests);
}
