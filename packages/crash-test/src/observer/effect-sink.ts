import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Effect } from "../operation-history.ts";

/** How long a tool runs after its effect, so that faults hit it. */
const RUN_SECONDS = 0.4;

/**
 * Counts the effects of tools in two ways: commands append a line to a file of their call, then call this HTTP server. It
 * never deduplicates.
 */
export class EffectSink implements AsyncDisposable {
  readonly #server: Server;
  readonly folder: string;
  readonly #address: string;
  readonly #received: Effect[] = [];
  onEffect: (id: string) => void = () => undefined;

  private constructor(folder: string, address: string) {
    this.folder = folder;
    this.#address = address;
    this.#server = createServer((request, response) => {
      const id = /^\/effects\/([\w.-]+)$/.exec(request.url ?? "")?.[1];
      if (id !== undefined) {
        this.#received.push({ id, at: Date.now(), through: "http" });
        this.onEffect(id);
      }
      request.resume();
      response.writeHead(id === undefined ? 404 : 204).end();
    });
  }

  /** `address` is that of this machine for the commands. */
  static async start(folder: string, address = "127.0.0.1"): Promise<EffectSink> {
    await mkdir(folder, { recursive: true });
    const sink = new EffectSink(folder, address);
    sink.#server.listen(0, "127.0.0.1");
    await once(sink.#server, "listening");
    return sink;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** A shell command with a visible effect. It reports success only after the effect. */
  commandOf(id: string): string {
    const url = `http://${this.#address}:${this.port}/effects/${id}`;
    const call = `curl -s -o /dev/null -m 20 --noproxy '*' -X POST ${url}`;
    return `echo ${id} >> ${join(this.folder, id)} && { ${call}; sleep ${RUN_SECONDS}; echo effect ${id}; }`;
  }

  /** For custom tools, whose effect is in the client. */
  async record(id: string): Promise<void> {
    this.#received.push({ id, at: Date.now(), through: "http" });
    await appendFile(join(this.folder, id), `${id}\n`);
  }

  async hasEffect(id: string): Promise<boolean> {
    return (await this.effects()).some((effect) => effect.id === id);
  }

  /** All effects so far. A line of a file has no time; only its number counts. */
  async effects(): Promise<Effect[]> {
    const files = await readdir(this.folder);
    const lines = await Promise.all(
      files.map(async (id) => {
        const text = await readFile(join(this.folder, id), "utf8");
        const at = this.#received.find((effect) => effect.id === id)?.at ?? Date.now();
        return text.split("\n").flatMap((line): Effect[] => (line ? [{ id: line, at, through: "file" }] : []));
      }),
    );
    return [...this.#received, ...lines.flat()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
