import type { ModelInfo } from "@tandem/runtime";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "../config/load-project.ts";
import { ensureTandemHome, tandemHome, type Variables } from "../config/tandem-home.ts";
import { writeFileAtomically } from "../config/write-file-atomically.ts";

/** Models change weekly, so a day-old list is fresh enough to show. */
export const FRESH_MS = 24 * 60 * 60_000;
const VERSION = 1;

export interface KeptModels {
  /** Time of the request. */
  at: string;
  models: ModelInfo[];
}

/** Caches the services' lists in a file of the user. It contains no secrets and may be deleted. */
export class ModelCache {
  readonly #env: Variables;
  readonly #service: string;

  constructor(env: Variables, project: Project) {
    this.#env = env;
    this.#service = serviceOf(project);
  }

  static file(env: Variables): string {
    return join(tandemHome(env), "models.json");
  }

  /** Undefined if there is no readable entry for this service. */
  async read(): Promise<KeptModels | undefined> {
    return (await this.#all())[this.#service];
  }

  /** Ignores write errors: the next call fetches the list again. */
  async write(kept: KeptModels): Promise<void> {
    try {
      await ensureTandemHome(this.#env);
      const services = { ...(await this.#all()), [this.#service]: kept };
      await writeFileAtomically(ModelCache.file(this.#env), `${JSON.stringify({ version: VERSION, services })}\n`);
    } catch {
      // For example a full disk or a read-only home.
    }
  }

  async #all(): Promise<Record<string, KeptModels>> {
    try {
      const { cacheFile } = await import("./cache-file.ts");
      return cacheFile.parse(JSON.parse(await readFile(ModelCache.file(this.#env), "utf8"))).services;
    } catch {
      return {};
    }
  }
}

/** Hashes the service's address, which may contain a password. */
function serviceOf({ config: { llm } }: Project): string {
  const { provider, claudeCode } = llm;
  const { backend } = provider;
  const address = backend === "anthropic" || backend === "gateway" ? provider[backend].baseUrl : claudeCode.baseUrl;
  const whose = backend === "claude-code" ? claudeCode.auth : "";
  return createHash("sha256")
    .update(JSON.stringify([backend, whose, address]))
    .digest("hex")
    .slice(0, 16);
}
