import { thisHost, type WorkerRow, type WorkerStore } from "@tandem/storage";
import { isLoopback } from "../http/settings.ts";

/** A process with an address. */
export type Peer = WorkerRow & { address: string };

/** Many requests a second look up the same few rows, which change every few seconds. */
const FRESH_MS = 1_000;

/** The live processes of the fleet, from their rows. */
export class Roster {
  readonly #workers: Pick<WorkerStore, "list">;
  #read: { at: number; rows: Promise<WorkerRow[]> } | undefined;

  constructor(workers: Pick<WorkerStore, "list">) {
    this.#workers = workers;
  }

  /** `bypassCache` re-reads the rows after a stale address failed. */
  async living(bypassCache = false): Promise<WorkerRow[]> {
    const now = performance.now();
    if (bypassCache || !this.#read || now - this.#read.at > FRESH_MS) {
      const rows = this.#workers.list().then((all) => all.filter(({ alive }) => alive));
      this.#read = { at: now, rows };
      rows.catch(() => (this.#read = undefined));
    }
    return this.#read.rows;
  }

  async find(holder: string, bypassCache = false): Promise<WorkerRow | undefined> {
    return (await this.living(bypassCache)).find((row) => row.holder === holder);
  }
}

/** Requests carry a token. A loopback address of another machine would send it to an unrelated process here. */
export function isReachable(row: WorkerRow | undefined): row is Peer {
  if (typeof row?.address !== "string") return false;
  const host = URL.parse(row.address)?.hostname;
  return host !== undefined && (!isLoopback(host) || row.host === thisHost());
}
