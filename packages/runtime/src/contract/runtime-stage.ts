import type { Backend, CallReport, LlmConfig } from "@tandem/protocol";
import { configSchema } from "@tandem/protocol";
import type { Rehearsal, RehearsalOptions, Script } from "@tandem/rehearsal";
import { startRehearsal } from "@tandem/rehearsal";
import type { Clock } from "../clock.ts";
import { systemClock } from "../clock.ts";
import { createRuntime } from "../create-runtime.ts";
import type { LlmBackend } from "../llm-backend.ts";
import type { LlmRuntime } from "../llm-runtime.ts";
import type { BehaviourId } from "./runtime-behaviours.ts";

/** One backend, as the contract suite plays it against a rehearsal. */
export interface BackendFixture {
  readonly name: Backend;
  /** How the rehearsal is to be started for it. */
  readonly rehearsal?: RehearsalOptions;
  make(rehearsal: Rehearsal, config: LlmConfig): Promise<LlmBackend>;
  /** What a tool of the caller is called on the wire. */
  wireName(tool: string): string;
  /** The full id that the service is asked for. */
  wireModel(id: string): string;
  /** As configured, where it is not to be the default. */
  readonly model?: string;
  /** Behaviours that this backend cannot show, each with the reason. */
  readonly exceptions?: Partial<Record<BehaviourId, string>>;
}

export interface Performance {
  readonly runtime: LlmRuntime;
  readonly reports: CallReport[];
  readonly warnings: string[];
}

/** A rehearsal and a backend that all behaviours of a fixture share, so that traces of one would show in another. */
export class Stage implements AsyncDisposable {
  readonly fixture: BackendFixture;
  readonly rehearsal: Rehearsal;
  readonly #shared: Promise<LlmBackend>;
  #extra: LlmBackend[] = [];

  private constructor(fixture: BackendFixture, rehearsal: Rehearsal) {
    this.fixture = fixture;
    this.rehearsal = rehearsal;
    this.#shared = fixture.make(rehearsal, configFor(fixture, {}));
  }

  static async open(fixture: BackendFixture): Promise<Stage> {
    const stage = new Stage(fixture, await startRehearsal([], fixture.rehearsal));
    await stage.#shared;
    return stage;
  }

  /** A runtime on the shared backend, with the script before it. `llm` is as in tandem.yaml. */
  async play(script: Script, llm: object = {}): Promise<Performance> {
    return this.#perform(script, llm, await this.#shared);
  }

  /** The same on a backend of its own: for other deadlines, or to be closed. */
  async playAlone(script: Script, llm: object = {}): Promise<Performance> {
    const backend = await this.fixture.make(this.rehearsal, configFor(this.fixture, llm));
    this.#extra.push(backend);
    return this.#perform(script, llm, backend);
  }

  tool(name: string): string {
    return this.fixture.wireName(name);
  }

  /** Ends what a behaviour had to itself. */
  async clear(): Promise<void> {
    await Promise.all(this.#extra.splice(0).map((backend) => backend.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
    await (await this.#shared).close();
    await this.rehearsal.close();
  }

  #perform(script: Script, llm: object, backend: LlmBackend): Performance {
    this.rehearsal.use(script);
    const reports: CallReport[] = [];
    const warnings: string[] = [];
    const runtime = createRuntime({
      config: configFor(this.fixture, llm),
      backend,
      sink: (report) => void reports.push(report),
      log: { warn: (message) => void warnings.push(message) },
      clock: skippingClock(),
    });
    return { runtime, reports, warnings };
  }
}

/** Shows one behaviour on the stage, or throws. */
export type Verify = (stage: Stage) => Promise<void>;

/** Waits of the governor pass at once, and time is as much later afterwards: a quota of hours takes no time to test. */
function skippingClock(): Clock {
  let skipped = 0;
  return {
    now: () => systemClock.now() + skipped,
    random: () => 0.5,
    sleep: async (milliseconds, signal) => {
      signal.throwIfAborted();
      skipped += milliseconds;
    },
  };
}

function configFor({ name, model }: BackendFixture, llm: object): LlmConfig {
  return configSchema.parse({ llm: { models: { default: model }, ...llm, provider: { backend: name } } }).llm;
}
