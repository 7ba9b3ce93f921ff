import { thisHost, type WorkerRow, type WorkerStore } from "@tandem/storage";
import { isLoopback } from "../http/settings.ts";

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

/**
 * A request goes there with somebody's token. An address of a machine for itself leads, on any other, to whoever listens
 * there.
 */
export function isReachable(row: WorkerRow | undefined): row is Peer {
  if (typeof row?.address !== "string") return false;
  const host = URL.parse(row.address)?.hostname;
  return host !== undefined && (!isLoopback(host) || row.host === thisHost());
}
