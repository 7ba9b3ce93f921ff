import type { Connection, Dialect } from "@tandem/connectors";

/** The databases of a project. Each is opened on first use. */
export class Databases implements AsyncDisposable {
  readonly dialects: ReadonlyMap<string, Dialect>;
  readonly #connect: (name: string) => Promise<Connection>;
  readonly #open = new Map<string, Promise<Connection>>();

  constructor(
    connections: Readonly<Record<string, { driver: Dialect }>>,
    connect: (name: string) => Promise<Connection>,
  ) {
    this.dialects = new Map(Object.entries(connections).map(([name, { driver }]) => [name, driver]));
    this.#connect = connect;
  }

  readonly open = (name: string): Promise<Connection> => {
    const known = this.#open.get(name);
    if (known) return known;
    const opening = this.#connect(name);
    this.#open.set(name, opening);
    // Forget a failed attempt, so that the next call retries.
    opening.catch(() => this.#open.delete(name));
    return opening;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = [...this.#open.values()];
    this.#open.clear();
    for (const opening of opened) await (await opening.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}
