import type { Backend, CallReport, LlmConfig } from "@tandem/protocol";
import { configSchema } from "@tandem/protocol";
import type { Rehearsal, RehearsalOptions, Script } from "@tandem/rehearsal";
import { startRehearsal } from "@tandem/rehearsal";
import type { GovernorClock } from "../governor-clock.ts";
import { createRuntime } from "../create-runtime.ts";
import type { LlmBackend } from "../llm-backend.ts";
import type { LlmRuntime } from "../llm-runtime.ts";

/** The same in all behaviours: Claude Code needs another process for another one. */
export const SYSTEM = "Answer like a cartographer.";

/** One backend under test, against a rehearsal. */
export interface BackendFixture {
  readonly name: Backend;
  /** Options of its rehearsal. */
  readonly rehearsal?: RehearsalOptions;
  make(rehearsal: Rehearsal, config: LlmConfig): Promise<LlmBackend>;
  /** Name of a caller's tool on the wire. */
  wireName(tool: string): string;
  /** The model id sent to the service. */
  wireModel(id: string): string;
  /** The configured model, if not the default. */
  readonly model?: string;
  /** Behaviours that this backend cannot fulfil, by title, with the reason. */
  readonly exceptions?: Readonly<Record<string, string>>;
}

export interface StagedRuntime {
  readonly runtime: LlmRuntime;
  readonly reports: CallReport[];
  readonly warnings: string[];
}

/** A rehearsal and a backend shared by all behaviours of a fixture: leaked state of one would show in another. */
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

  /** A runtime with the shared backend and the given script. `llm` is as in tandem.yaml. */
  async play(script: Script, llm: object = {}): Promise<StagedRuntime> {
    return this.#stageRuntime(script, llm, await this.#shared);
  }

  /** The same with its own backend: for other deadlines, or to be closed. */
  async playAlone(script: Script, llm: object = {}): Promise<StagedRuntime> {
    const backend = await this.fixture.make(this.rehearsal, configFor(this.fixture, llm));
    this.#extra.push(backend);
    return this.#stageRuntime(script, llm, backend);
  }

  tool(name: string): string {
    return this.fixture.wireName(name);
  }

  /** Closes the backends of `playAlone`. */
  async clear(): Promise<void> {
    await Promise.all(this.#extra.splice(0).map((backend) => backend.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.clear();
    await (await this.#shared).close();
    await this.rehearsal.close();
  }

  #stageRuntime(script: Script, llm: object, backend: LlmBackend): StagedRuntime {
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

/** Verifies one behaviour, or throws. */
export type Verify = (stage: Stage) => Promise<void>;

/** What the runtime does on every backend, in one sentence each, with its test. */
export type Behaviours = Record<string, Verify>;

/** A clock that skips the governor's waits: a quota of hours takes no time to test. */
function skippingClock(): GovernorClock {
  let skipped = 0;
  return {
    now: () => Date.now() + skipped,
    random: () => 0.5,
    after: (milliseconds, callback) => {
      let isCancelled = false;
      skipped += milliseconds;
      queueMicrotask(() => isCancelled || callback());
      return () => void (isCancelled = true);
    },
  };
}

function configFor({ name, model }: BackendFixture, llm: object): LlmConfig {
  return configSchema.parse({ llm: { models: { default: model }, ...llm, provider: { backend: name } } }).llm;
}
