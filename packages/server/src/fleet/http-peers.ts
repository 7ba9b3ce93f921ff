import { randomBytes } from "node:crypto";
import type { SessionId, WorkerId } from "@tandem/protocol";
import { fits, type PeerWorkers } from "@tandem/sessions";
import type { SessionRow, WorkerRow, WorkerStore } from "@tandem/storage";
import { z } from "zod";
import { STORE_TROUBLES } from "../http/store-check.ts";
import { TAKEOVER_QUERY } from "../http/takeover-query.ts";
import { readBytes } from "../http/request/read-body.ts";
import { forwardRequest } from "./forward-request.ts";
import { isReachable } from "./roster.ts";

/** Another worker says after two seconds that its database does not answer. */
const ANSWER_MS = 3_000;
const LARGEST_ANSWER = 1_024;
const noDatabase = z.object({ reason: z.enum(STORE_TROUBLES) });

/** Asks the other workers over HTTP, because there is no database: each says with `/readyz` whether it has one. */
export class HttpPeers implements PeerWorkers {
  readonly #workers: Pick<WorkerStore, "list">;
  readonly #self: WorkerId;
  /** As last read. Undefined: not read yet. */
  #known: readonly WorkerRow[] | undefined;

  constructor(workers: Pick<WorkerStore, "list">, self: WorkerId) {
    this.#workers = workers;
    this.#self = self;
  }

  async refresh(): Promise<void> {
    const rows = await this.#workers.list();
    // A worker that drains takes no sessions. One with a problem may solve it at any time.
    this.#known = rows.filter(({ id, alive, draining }) => id !== this.#self && alive && !draining);
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
  const question = {
    method: "GET",
    url: `/readyz?${TAKEOVER_QUERY}`,
    headers: {},
    remote: undefined,
    body: undefined,
    id: `req_${randomBytes(12).toString("hex")}`,
  };
  try {
    const answer = await forwardRequest(peer, question, {
      signal: AbortSignal.timeout(ANSWER_MS),
      deadlineMs: ANSWER_MS,
    });
    const body = (await readBytes(answer, LARGEST_ANSWER)).toString();
    return answer.statusCode !== 503 || !noDatabase.safeParse(JSON.parse(body)).success;
  } catch {
    return true;
  }
}
