import { Socket } from "node:net";
import { Client, type ClientConfig } from "pg";

/** Detects a dead connection, which would otherwise never deliver another notification. */
const HEARTBEAT_MS = 5_000;
/** This connection has only short statements. Streams are silent until a dead connection is noticed. */
const QUERY_TIMEOUT_MS = 5_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;

interface ListenerOptions {
  config: ClientConfig;
  channel: string;
  onPayload: (payload: string) => void;
  /** Called at first and after each reconnect: notifications may have been missed. */
  onConnect: () => void;
}

/** Listens for notifications on its own connection, and reconnects. */
export class NotificationListener {
  readonly #options: ListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #closed = false;
  isListening = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    void this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    // An unref'd socket: listening alone must not keep the process alive.
    const client = new Client({
      ...this.#options.config,
      query_timeout: QUERY_TIMEOUT_MS,
      stream: () => new Socket().unref(),
    });
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
    client.on("notification", ({ payload = "" }) => this.#options.onPayload(payload));
    try {
      await client.connect();
      await client.query(`listen ${this.#options.channel}`);
      if (this.#closed) return this.#drop(client);
      this.#heartbeat = setInterval(() => void client.query("select 1").catch(() => this.#lost(client)), HEARTBEAT_MS);
      this.#heartbeat.unref();
      this.#retryMs = FIRST_RETRY_MS;
      this.isListening = true;
      this.#options.onConnect();
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
}
