import type { Connection, Dialect } from "@tandem/connectors";

type Connections = Readonly<Record<string, { driver: Dialect }>>;

/** The databases of a project. Each is opened on first use. */
export class Databases implements AsyncDisposable {
  readonly #connections: () => Connections;
  readonly #connect: (name: string) => Promise<Connection>;
  readonly #open = new Map<string, Promise<Connection>>();

  /** `connections` is read for each use, because one can be added while the server runs. */
  constructor(connections: () => Connections, connect: (name: string) => Promise<Connection>) {
    this.#connections = connections;
    this.#connect = connect;
  }

  get dialects(): ReadonlyMap<string, Dialect> {
    return new Map(Object.entries(this.#connections()).map(([name, { driver }]) => [name, driver]));
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
