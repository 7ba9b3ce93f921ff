import { TandemError } from "@tandem/protocol";
import { PgBoss, type ConstructorOptions, type Db } from "pg-boss";
import { DEFAULT_ATTEMPTS, DEFAULT_PAUSE_SECONDS, MAX_PAUSE_SECONDS, type QueueOptions } from "../run-queue.ts";
import { retryWhileUnavailable } from "./retry-while-unavailable.ts";
import { DEAD_LETTERS } from "./queue-name.ts";
import { CREATE_KEY_INDEX, KEY_INDEX, SCHEMA } from "./statements.ts";

/** The minimum of pg-boss. A worker without a heartbeat for this long counts as dead. */
const HEARTBEAT_SECONDS = 10;
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
/** Our statements take milliseconds. A suspended process that holds the take lock must not block a fleet. */
const SESSION = "-c statement_timeout=30000 -c idle_in_transaction_session_timeout=5000";
const QUERY_TIMEOUT_MS = 35_000;
const CONNECTIONS = 4;
/** How long calls wait for an unavailable Postgres: about the duration of a restart. */
export const UNAVAILABLE_MS = 30_000;

const TELL_EVERY_MS = 30_000;

const DENIED = "42501";
const NO_SUCH_SCHEMA = "3F000";

export interface PgBossQueueOptions extends QueueOptions {
  /** Called for background errors, such as an unavailable Postgres. Nothing is lost: everything is retried. */
  onTrouble?: (error: Error) => void;
}

export type Row = Readonly<Record<string, unknown>>;

/** A run taken by this process, as pg-boss represents it. */
export interface TakenJob {
  id: string;
  name: string;
  /** Attempt number: pg-boss ignores updates of an attempt that this worker no longer owns. */
  retryCount: number;
  data: unknown;
}

/** pg-boss, configured for runs. */
export class PgBossAdapter {
  readonly boss: PgBoss;
  readonly options: PgBossQueueOptions;
  /** Fires when the queue closes. */
  readonly closing = new AbortController();
  readonly #known = new Set<string>();
  readonly #told = new Map<string, number>();
  /** pg-boss's channel, once it listens. Without notifications, runs are found by polling, a second later. */
  #channel = "tandem_queue";
  #onNotification: (payload: string) => void = () => {};
  #onReconnect: () => void = () => {};

  private constructor(url: string, options: PgBossQueueOptions, createSchema: boolean) {
    this.options = options;
    this.boss = new PgBoss(settings(url, createSchema));
    // Without a listener, the error event would crash the process.
    this.boss.on("error", (error) => this.trouble(error));
    const db = this.boss.getDb();
    const listen = db.listen?.bind(db);
    if (!listen) return;
    // pg-boss wakes only its own workers, which ignore capacity. Ours listen to the same notifications.
    db.listen = (channel, onNotification, onReconnect) => {
      this.#channel = channel;
      return listen(
        channel,
        (payload) => {
          this.#onNotification(payload);
          onNotification(payload);
        },
        () => {
          this.#onReconnect();
          onReconnect();
        },
      );
    };
  }

  static async open(url: string, options: PgBossQueueOptions): Promise<PgBossAdapter> {
    // Creating an existing schema still needs the right to create one; retry without it, because an owner may have
    // created it.
    for (const createSchema of [true, false]) {
      const adapter = new PgBossAdapter(url, options, createSchema);
      try {
        await retryWhileUnavailable(() => adapter.boss.start(), UNAVAILABLE_MS);
        await retryWhileUnavailable(() => adapter.#prepare(), UNAVAILABLE_MS);
        return adapter;
      } catch (error) {
        await adapter.boss.stop({ graceful: false }).catch(() => {});
        if (!isDenied(error)) throw error;
        if (!createSchema) throw notAllowed(error);
      }
    }
    throw new Error("unreachable");
  }

  async #prepare(): Promise<void> {
    const [index] = await this.sql("select to_regclass($1) is not null as there", [KEY_INDEX]);
    if (index?.there !== true) {
      await this.transaction(async (db) => {
        // `if not exists` fails if several processes create the index at once.
        await this.sql("select pg_advisory_xact_lock(hashtext($1))", [KEY_INDEX], db);
        await this.sql(CREATE_KEY_INDEX, [], db);
      });
    }
    await this.boss.createQueue(DEAD_LETTERS, { retentionSeconds: 90 * DAY });
  }

  onNotification(onNotification: (payload: string) => void, onReconnect: () => void): void {
    this.#onNotification = onNotification;
    this.#onReconnect = onReconnect;
  }

  /** Rate-limits repeated errors: an unavailable Postgres causes several per second. */
  trouble(error: unknown): void {
    const { message } = error instanceof Error ? error : new Error(String(error));
    const told = this.#told.get(message);
    if (told !== undefined && Date.now() - told < TELL_EVERY_MS) return;
    this.#told.set(message, Date.now());
    this.options.onTrouble?.(error instanceof Error ? error : new Error(message));
  }

  async sql(text: string, values?: unknown[], db: Db = this.boss.getDb()): Promise<Row[]> {
    return (await db.executeSql(text, values)).rows;
  }

  get channel(): string {
    return this.#channel;
  }

  async transaction<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const begin = this.boss.getDb().beginTransaction?.bind(this.boss.getDb());
    if (!begin) throw new Error("pg-boss has no transactions here.");
    const transaction = await begin();
    try {
      const result = await work(transaction.db);
      await transaction.commit();
      return result;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async ensureQueue(name: string): Promise<void> {
    if (this.#known.has(name)) return;
    const { attempts = DEFAULT_ATTEMPTS, pauseSeconds = DEFAULT_PAUSE_SECONDS } = this.options;
    await this.boss.createQueue(name, {
      // At most one waiting run per key. Takers check for a running one themselves: `singleton` and `stately` check it
      // too, but then a run whose key is running blocks the queue behind it.
      policy: "short",
      notify: true,
      deadLetter: DEAD_LETTERS,
      retryLimit: attempts - 1,
      retryDelay: pauseSeconds,
      retryBackoff: true,
      retryDelayMax: MAX_PAUSE_SECONDS,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: DAY,
      deleteAfterSeconds: 60 * MINUTE,
    });
    this.#known.add(name);
  }

  async close(): Promise<void> {
    await this.boss.stop({ graceful: false });
  }
}

function settings(url: string, createSchema: boolean): ConstructorOptions & { query_timeout: number } {
  return {
    connectionString: url,
    schema: SCHEMA,
    createSchema,
    application_name: "tandem queue",
    options: SESSION,
    query_timeout: QUERY_TIMEOUT_MS,
    max: CONNECTIONS,
    useListenNotify: true,
    schedule: false,
    // Maintenance interval. Workers detect a dead worker within a second and trigger it themselves.
    superviseIntervalSeconds: MINUTE,
    monitorIntervalSeconds: 1,
    queueCacheIntervalSeconds: MINUTE,
    maintenanceIntervalSeconds: 60 * MINUTE,
    flowIntervalSeconds: DAY,
    bamIntervalSeconds: 60 * MINUTE,
  };
}

function isDenied(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return "code" in error && (error.code === DENIED || error.code === NO_SUCH_SCHEMA);
}

const notAllowed = (cause: unknown): TandemError =>
  new TandemError("queue_not_allowed", `The role of storage.url may not set up the queue's schema "${SCHEMA}".`, {
    fix: `As an owner of the database, once: CREATE SCHEMA ${SCHEMA} AUTHORIZATION "the role"; or GRANT CREATE ON DATABASE to it.`,
    cause,
  });
