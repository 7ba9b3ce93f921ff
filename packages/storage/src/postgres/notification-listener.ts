import { Socket } from "node:net";
import { Client, type ClientConfig } from "pg";
import type { ChangeNotice } from "../database.ts";
import { POSTGRES_CHANNEL, POSTGRES_SCHEMA } from "../operations/schema/migrations.ts";

/** Detects a dead connection, which would otherwise never deliver another notification. */
const HEARTBEAT_MS = 15_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;

/**
 * Listens for notifications on its own connection and reconnects. After a reconnect it sends a `resync`, because
 * notifications may have been missed.
 */
export class NotificationListener {
  readonly #config: ClientConfig;
  readonly #notify: (notice: ChangeNotice, schema: string | undefined) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  isListening = false;

  /** `notify` gets the schema concerned; undefined for all. */
  constructor(config: ClientConfig, notify: (notice: ChangeNotice, schema: string | undefined) => void) {
    this.#config = config;
    this.#notify = notify;
    void this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    // An unref'd socket: listening alone must not keep the process alive.
    const client = new Client({ ...this.#config, stream: () => new Socket().unref() });
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ payload }) => this.#parse(payload));
    try {
      await client.connect();
      await client.query(`listen ${POSTGRES_CHANNEL}`);
      if (this.#closed) return this.#drop(client);
      this.#heartbeat = setInterval(() => void client.query("select 1").catch(() => this.#lost(client)), HEARTBEAT_MS);
      this.#heartbeat.unref();
      this.#retryMs = FIRST_RETRY_MS;
      this.isListening = true;
      this.#notify({ type: "resync" }, undefined);
    } catch {
      this.#lost(client);
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#drop(client);
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#connect(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  #drop(client: Client | undefined): void {
    this.#client = undefined;
    this.isListening = false;
    clearInterval(this.#heartbeat);
    client?.end().catch(() => {});
  }

  #parse(payload = ""): void {
    const [type, session, number, schema = POSTGRES_SCHEMA] = payload.split(" ");
    if (session === undefined) return;
    if (type === "log") this.#notify({ type, session, seq: Number(number) }, schema);
    if (type === "inbox") this.#notify({ type, session, position: Number(number) }, schema);
    if (type === "gone" || type === "ended") this.#notify({ type, session }, schema);
  }
}
