import { Socket } from "node:net";
import { Client, type ClientConfig } from "pg";
import type { Bell } from "../database.ts";
import { POSTGRES_CHANNEL, POSTGRES_SCHEMA } from "../operations/migrations.ts";

/** A connection that died without a word would never ring again. */
const HEARTBEAT_MS = 15_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;

/** Listens on a connection of its own, and comes back when it is lost: with a `look`, for what it may have missed. */
export class Doorbell {
  readonly #config: ClientConfig;
  readonly #ring: (bell: Bell, schema: string | undefined) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  isListening = false;

  /** `ring` is called with whose tables it is about; undefined if it is for all. */
  constructor(config: ClientConfig, ring: (bell: Bell, schema: string | undefined) => void) {
    this.#config = config;
    this.#ring = ring;
    void this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    // Listening alone keeps no process alive.
    const client = new Client({ ...this.#config, stream: () => new Socket().unref() });
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ payload }) => this.#heard(payload));
    try {
      await client.connect();
      await client.query(`listen ${POSTGRES_CHANNEL}`);
      if (this.#closed) return this.#drop(client);
      this.#heartbeat = setInterval(() => void client.query("select 1").catch(() => this.#lost(client)), HEARTBEAT_MS);
      this.#heartbeat.unref();
      this.#retryMs = FIRST_RETRY_MS;
      this.isListening = true;
      this.#ring({ type: "look" }, undefined);
    } catch {
      this.#lost(client);
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#drop(client);
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#connect(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }

  #drop(client: Client | undefined): void {
    this.#client = undefined;
    this.isListening = false;
    clearInterval(this.#heartbeat);
    client?.end().catch(() => {});
  }

  #heard(payload = ""): void {
    const [type, session, number, schema = POSTGRES_SCHEMA] = payload.split(" ");
    if (session === undefined) return;
    if (type === "log") this.#ring({ type, session, seq: Number(number) }, schema);
    if (type === "inbox") this.#ring({ type, session, position: Number(number) }, schema);
    if (type === "gone" || type === "ended") this.#ring({ type, session }, schema);
  }
}
