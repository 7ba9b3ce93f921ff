import type { ModelInfo } from "@tandem/runtime";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "../config/load-project.ts";
import { ensureTandemHome, tandemHome, type Variables } from "../config/tandem-home.ts";
import { writeFileAtomically } from "../config/write-file-atomically.ts";

/** Models come and go by the week; a day old is new enough to look at. */
export const FRESH_MS = 24 * 60 * 60_000;
const VERSION = 1;

export interface KeptModels {
  /** When they were asked for. */
  at: string;
  models: ModelInfo[];
}

/** What services said when they were last asked, in a file of the user's. It holds no secret, and anybody may delete it. */
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

  /** Undefined where nothing is kept of this service, or it cannot be read. */
  async read(): Promise<KeptModels | undefined> {
    return (await this.#all())[this.#service];
  }

  /** What cannot be kept is asked for again: nobody need hear of it. */
  async write(kept: KeptModels): Promise<void> {
    try {
      await ensureTandemHome(this.#env);
      const services = { ...(await this.#all()), [this.#service]: kept };
      await writeFileAtomically(ModelCache.file(this.#env), `${JSON.stringify({ version: VERSION, services })}\n`);
    } catch {
      // A full disk or a home that is not ours to write to.
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

/** Who is asked, as a hash: an address may hold a password. */
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
