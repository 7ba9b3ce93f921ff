import { setTimeout as sleep } from "node:timers/promises";

const DEADLINE_MS = 120_000;

export interface ShopServer {
  url: string;
  token: string;
  /** The folder of Harbour Bikes. */
  project: string;
}

/** Calls the API of a server for the shop, and waits for sessions. */
export class ShopClient {
  readonly #server: ShopServer;

  constructor(server: ShopServer) {
    this.#server = server;
  }

  /** POST with a body, GET without. */
  async api<T>(path: string, body?: unknown, token = this.#server.token): Promise<T> {
    const response = await fetch(`${this.#server.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async start(agent: { id: string }, prompt: string, title: string, more: object = {}): Promise<string> {
    const { id } = await this.api<{ id: string }>("/v1/sessions", {
      agent: agent.id,
      environment_id: "env_local",
      title,
      initial_events: [message(prompt)],
      ...more,
    });
    return id;
  }

  /** Resolves when the turn has ended. */
  async send(session: string, prompt: string): Promise<void> {
    const before = await this.#turns(session);
    await this.api(`/v1/sessions/${session}/events`, { events: [message(prompt)] });
    await this.untilTurns(session, before + 1);
  }

  async untilTurns(session: string, turns: number): Promise<void> {
    await until(`${turns} turns of ${session}`, async () => (await this.#turns(session)) >= turns);
  }

  /** The requests that wait for the user. */
  async untilWaiting(session: string): Promise<{ id: string }[]> {
    let pending: { id: string }[] = [];
    await until(`a request of ${session}`, async () => {
      const path = `/v1/approvals?status=pending&session_id=${session}`;
      pending = (await this.api<{ data: { id: string }[] }>(path)).data;
      return pending.length > 0;
    });
    return pending;
  }

  async #turns(session: string): Promise<number> {
    const { data } = await this.api<{ data: { event: { type: string; stop_reason?: { type: string } } }[] }>(
      `/v1/sessions/${session}/log?limit=2000`,
    );
    return data.filter(({ event }) => event.type === "session.status_idle" && event.stop_reason?.type === "end_turn")
      .length;
  }
}

const message = (text: string) => ({ type: "user.message", content: [{ type: "text", text }] });

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + DEADLINE_MS; !(await isDone()); await sleep(200)) {
    if (Date.now() > end) throw new Error(`Timed out waiting for ${what}.`);
  }
}
