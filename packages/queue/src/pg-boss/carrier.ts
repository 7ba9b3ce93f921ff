import { TandemError } from "@tandem/protocol";
import { PgBoss, type ConstructorOptions, type Db } from "pg-boss";
import { DEFAULT_ATTEMPTS, DEFAULT_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, type QueueOptions } from "../run-queue.ts";
import { patiently } from "./patience.ts";
import { DEAD_LETTERS } from "./queue-name.ts";
import { CREATE_KEY_INDEX, KEY_INDEX, SCHEMA } from "./statements.ts";

/** The least that pg-boss takes. A worker that has died is noticed when it has not been heard of for so long. */
const HEARTBEAT_SECONDS = 10;
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
/** Ours are milliseconds; whoever holds the lock on taking and is suspended must not hold up a fleet. */
const SESSION = "-c statement_timeout=30000 -c idle_in_transaction_session_timeout=5000";
const QUERY_TIMEOUT_MS = 35_000;
const CONNECTIONS = 4;
/** How long calls wait for a Postgres that is away: about as long as it takes to restart one. */
export const PATIENCE_MS = 30_000;

const TELL_EVERY_MS = 30_000;

const DENIED = "42501";
const NO_SUCH_SCHEMA = "3F000";

export interface PgBossQueueOptions extends QueueOptions {
  /** Hears of what went wrong in the background, as Postgres being away. Nothing is lost by it: all of it is tried again. */
  onTrouble?: (error: Error) => void;
}

export type Row = Readonly<Record<string, unknown>>;

/** A run that this process has taken, as pg-boss knows it. */
export interface TakenJob {
  id: string;
  name: string;
  /** Which attempt it is: pg-boss leaves alone what is not this worker's any more. */
  retryCount: number;
  data: unknown;
}

/** pg-boss, set up for runs. */
export class Carrier {
  readonly boss: PgBoss;
  readonly options: PgBossQueueOptions;
  /** Fires when the queue closes. */
  readonly closing = new AbortController();
  readonly #known = new Set<string>();
  readonly #told = new Map<string, number>();
  /** pg-boss's own, once it listens; without it nobody hears, and runs are found a second later. */
  #channel = "tandem_queue";
  #onRing: (payload: string) => void = () => {};
  #onReconnect: () => void = () => {};

  private constructor(url: string, options: PgBossQueueOptions, createSchema: boolean) {
    this.options = options;
    this.boss = new PgBoss(settings(url, createSchema));
    // An error event that nobody hears would end the process.
    this.boss.on("error", (error) => this.trouble(error));
    const db = this.boss.getDb();
    const listen = db.listen?.bind(db);
    if (!listen) return;
    // pg-boss wakes its own workers only, which take runs whether or not there is room for them. Ours hear the same bell.
    db.listen = (channel, onRing, onReconnect) => {
      this.#channel = channel;
      return listen(
        channel,
        (payload) => {
          this.#onRing(payload);
          onRing(payload);
        },
        () => {
          this.#onReconnect();
          onReconnect();
        },
      );
    };
  }

  static async open(url: string, options: PgBossQueueOptions): Promise<Carrier> {
    // Asking for a schema that is there already needs the right to make one: an owner has made it for us then.
    for (const createSchema of [true, false]) {
      const carrier = new Carrier(url, options, createSchema);
      try {
        await patiently(() => carrier.boss.start(), PATIENCE_MS);
        await carrier.#prepare();
        return carrier;
      } catch (error) {
        await carrier.boss.stop({ graceful: false }).catch(() => {});
        if (!isDenied(error)) throw error;
        if (!createSchema) throw notAllowed(error);
      }
    }
    throw new Error("unreachable");
  }

  async #prepare(): Promise<void> {
    const [index] = await this.sql("select to_regclass($1) is not null as there", [KEY_INDEX]);
    if (index?.there !== true) await this.sql(CREATE_KEY_INDEX);
    await this.boss.createQueue(DEAD_LETTERS, { retentionSeconds: 90 * DAY });
  }

  onRing(onRing: (payload: string) => void, onReconnect: () => void): void {
    this.#onRing = onRing;
    this.#onReconnect = onReconnect;
  }

  /** The same trouble is told once in a while: while Postgres is away, it comes several times a second. */
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
      // One that waits per key. That one is under way is for whoever takes it to see: `singleton` and `stately` say it too, but
      // then a run whose key is under way stands at the head of its queue and nothing behind it is taken.
      policy: "short",
      notify: true,
      deadLetter: DEAD_LETTERS,
      retryLimit: attempts - 1,
      retryDelay: pauseSeconds,
      retryBackoff: true,
      retryDelayMax: LONGEST_PAUSE_SECONDS,
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
    // Housekeeping. Workers themselves see within a second that another has died, and call for it then.
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
