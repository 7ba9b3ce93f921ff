import type { WorkerRow, WorkerStore } from "@tandem/storage";

/** A process that can be spoken to. */
export type Peer = WorkerRow & { address: string };

/** Rows change every few seconds; many requests a second look for the same few. */
const FRESH_MS = 1_000;

/** The processes of the fleet that live, as their rows say. */
export class Roster {
  readonly #workers: Pick<WorkerStore, "list">;
  #read: { at: number; rows: Promise<WorkerRow[]> } | undefined;

  constructor(workers: Pick<WorkerStore, "list">) {
    this.#workers = workers;
  }

  /** `again` for who was led astray by what was known a moment ago. */
  async living(again = false): Promise<WorkerRow[]> {
    const now = Date.now();
    if (again || !this.#read || now - this.#read.at > FRESH_MS) {
      const rows = this.#workers.list().then((all) => all.filter(({ alive }) => alive));
      this.#read = { at: now, rows };
      rows.catch(() => (this.#read = undefined));
    }
    return this.#read.rows;
  }

  async find(holder: string, again = false): Promise<WorkerRow | undefined> {
    return (await this.living(again)).find((row) => row.holder === holder);
  }
}

export const isReachable = (row: WorkerRow | undefined): row is Peer => typeof row?.address === "string";
