import { randomBytes } from "node:crypto";
import { sleep, systemClock, unready, type SessionId, type WorkerId } from "@tandem/protocol";
import { fits, type Log, type PeerWorkers } from "@tandem/sessions";
import type { Lease, SessionRow, WorkerRow, WorkerStore } from "@tandem/storage";
import { STORE_TROUBLES } from "../http/store-check.ts";
import type { SharedKey } from "../http/access/shared-key.ts";
import { TAKEOVER_QUERY } from "../http/takeover-query.ts";
import { readBytes } from "../http/request/read-body.ts";
import { forwardRequest } from "./forward-request.ts";
import { isReachable, type Peer } from "./roster.ts";
import { askAboutTaken } from "./taken-question.ts";

/** Another worker says after two seconds that its database does not answer. */
const ANSWER_MS = 3_000;
/** Every takeover from a machine that has vanished waits this long. */
const ENDED_MS = 1_500;
const LARGEST_ANSWER = 1_024;
const isStoreTrouble = (reason: string): boolean => STORE_TROUBLES.some((trouble) => trouble === reason);

/** Asks the other workers over HTTP, because there is no database: each says with `/readyz` whether it has one. */
export class HttpPeers implements PeerWorkers {
  readonly #workers: Pick<WorkerStore, "list">;
  readonly #self: WorkerId;
  readonly #key: SharedKey;
  readonly #log: Log;
  /** As last read. Undefined: not read yet. */
  #known: readonly WorkerRow[] | undefined;

  constructor(parts: { workers: Pick<WorkerStore, "list">; self: WorkerId; key: SharedKey; log: Log }) {
    this.#workers = parts.workers;
    this.#self = parts.self;
    this.#key = parts.key;
    this.#log = parts.log;
  }

  async refresh(): Promise<void> {
    const rows = await this.#workers.list();
    // A worker that drains takes no sessions. One with a problem may solve it at any time.
    this.#known = rows.filter(({ id, alive, draining }) => id !== this.#self && alive && !draining);
  }

  async ended(former: string | undefined, lease: Lease): Promise<void> {
    const { session } = lease;
    const late = new AbortController();
    const asked = this.#askFormer(former, lease).catch((error: unknown) => {
      // Dead or out of reach. It ends its processes by itself before its lease expires.
      this.#log.warn({ session, former, error: String(error) }, "the former holder of a session could not be asked");
    });
    await Promise.race([asked, sleep(systemClock, ENDED_MS, { signal: late.signal })]);
    late.abort();
  }

  async #askFormer(former: string | undefined, lease: Lease): Promise<void> {
    const [rows, path] = await Promise.all([this.#workers.list(), askAboutTaken(lease, this.#key)]);
    const asked = rows.filter(({ id, alive, holder }) =>
      former === undefined ? alive && id !== this.#self : holder === former,
    );
    await Promise.all(
      asked.map(async (row) => {
        if (isReachable(row)) (await ask(row, path, ENDED_MS)).resume();
      }),
    );
  }

  async contested(sessions: readonly SessionRow[], tenant: string): Promise<ReadonlySet<SessionId>> {
    if (!this.#known) return new Set(sessions.map(({ id }) => id));
    const rivals = this.#known.map((peer) => ({
      peer,
      theirs: sessions.filter(({ place }) => fits(peer, place, tenant)).map(({ id }) => id),
    }));
    const asked = rivals.filter(({ theirs }) => theirs.length > 0);
    const contested = await Promise.all(
      asked.map(async ({ peer, theirs }) => ((await mayTakeOver(peer)) ? theirs : [])),
    );
    return new Set(contested.flat());
  }
}

/** False only if the worker says that it has no database, and so has promised to take over nothing for the time of a lease. */
async function mayTakeOver(peer: WorkerRow): Promise<boolean> {
  if (!isReachable(peer)) return true;
  try {
    const answer = await ask(peer, `/readyz?${TAKEOVER_QUERY}`, ANSWER_MS);
    const body = (await readBytes(answer, LARGEST_ANSWER)).toString();
    return answer.statusCode !== 503 || !isStoreTrouble(unready.parse(JSON.parse(body)).reason);
  } catch {
    return true;
  }
}

/** Without a token: a process without a database cannot check one. */
function ask(peer: Peer, url: string, deadlineMs: number): ReturnType<typeof forwardRequest> {
  const id = `req_${randomBytes(12).toString("hex")}`;
  const question = { method: "GET", url, headers: {}, remote: undefined, body: undefined, id };
  return forwardRequest(peer, question, { signal: AbortSignal.timeout(deadlineMs), deadlineMs });
}
