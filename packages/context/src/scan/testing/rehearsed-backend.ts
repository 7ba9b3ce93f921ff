import { type Backend, type CallReport, configSchema } from "@tandem/protocol";
import { madeUpLogin, type Rehearsal, type Script, startRehearsal } from "@tandem/rehearsal";
import { createBackend, createRuntime, type LlmBackend, type LlmRuntime, resolveModel } from "@tandem/runtime";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LlmSource } from "../../runs/metered-llm.ts";

/** Backends over HTTP; `claude-code` starts the real binary. */
export const HTTP_BACKENDS = ["anthropic", "vertex", "gateway"] as const satisfies readonly Backend[];

type RehearsedName = Exclude<Backend, "none">;

/** A backend against a rehearsal, configured as in tandem.yaml, in a scratch home. */
export class RehearsedBackend implements AsyncDisposable {
  readonly rehearsal: Rehearsal;
  readonly reports: CallReport[] = [];
  /** Also receives each report. */
  onReport: (report: CallReport) => void = () => {};
  readonly #name: RehearsedName;
  readonly #backend: LlmBackend;
  readonly #home: string;
  #runtime: LlmRuntime | undefined;

  private constructor(name: RehearsedName, rehearsal: Rehearsal, backend: LlmBackend, home: string) {
    this.#name = name;
    this.rehearsal = rehearsal;
    this.#backend = backend;
    this.#home = home;
  }

  static async open(name: RehearsedName): Promise<RehearsedBackend> {
    const rehearsal = await startRehearsal([], name === "claude-code" ? { proxy: true } : {});
    const home = await mkdtemp(join(tmpdir(), "tandem-scan-"));
    const configDir = join(home, ".claude");
    if (name === "claude-code") await madeUpLogin(configDir);
    const token = join(home, "subject-token");
    await writeFile(token, "made-up");
    const backend = await createBackend(configOf(name, rehearsal), {
      readSecret: async (reference) => (reference === GOOGLE ? googleCredentials(rehearsal.url, token) : "made-up"),
      stateFolder: join(home, "tandem"),
      hostVariables: {
        PATH: process.env["PATH"],
        HOME: home,
        TMPDIR: home,
        CLAUDE_CONFIG_DIR: configDir,
        ...(name === "claude-code" && rehearsal.proxy.variables),
        NO_PROXY: "127.0.0.1",
      },
    });
    return new RehearsedBackend(name, rehearsal, backend, home);
  }

  /** A runtime with the given script. Waits are skipped and advance the clock. */
  play(script: Script, llm: object = {}): LlmRuntime {
    this.rehearsal.use(script);
    this.reports.length = 0;
    let skipped = 0;
    this.#runtime = createRuntime({
      config: configOf(this.#name, this.rehearsal, llm),
      backend: this.#backend,
      sink: (report) => {
        this.reports.push(report);
        this.onReport(report);
      },
      clock: {
        now: () => Date.now() + skipped,
        random: () => 0.5,
        after: (milliseconds, callback) => {
          let isCancelled = false;
          skipped += milliseconds;
          queueMicrotask(() => isCancelled || callback());
          return () => void (isCancelled = true);
        },
      },
    });
    return this.#runtime;
  }

  /** The runtime of the last script. */
  get runtime(): LlmRuntime {
    return this.#runtime ?? this.play([]);
  }

  /** The runtime of the last script, for a job. The backend outlives the job. */
  get source(): LlmSource {
    const { runtime } = this;
    return {
      backend: runtime.backend,
      open: async (onReport) => {
        this.onReport = onReport;
        return { ...runtime, close: async () => {} };
      },
    };
  }

  get model(): string {
    return resolveModel(this.#name, "sonnet");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backend.close();
    await this.rehearsal.close();
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const GOOGLE = "file:google.json";

function configOf(backend: RehearsedName, { url, providerUrls }: Rehearsal, llm: object = {}) {
  const provider = {
    backend,
    anthropic: { baseUrl: url },
    vertex: { project: "rehearsal", credentials: GOOGLE, baseUrl: url },
    gateway: { baseUrl: providerUrls.gateway },
  };
  return configSchema.parse({ llm: { provider, ...llm } }).llm;
}

/** A Google credential that names its own token source: here, the rehearsal. */
function googleCredentials(url: string, file: string): string {
  return JSON.stringify({
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/rehearsal/providers/rehearsal",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${url}/token`,
    credential_source: { file },
  });
}
