import type { ChangeNotice, Database } from "../database.ts";
import { schemaVersion } from "../operations/schema/migrate.ts";
import { POSTGRES_SCHEMA, SCHEMA_VERSION, schemaOf } from "../operations/schema/migrations.ts";
import type { Operation } from "../operation.ts";
import { deleteTenant, getTenant, noSuchTenant, tenantsBehind } from "../operations/tenants.ts";
import { unavailable } from "../refusal.ts";
import { performAsync, raw, sql } from "../sql-statement.ts";
import { toTandemError } from "../to-tandem-error.ts";
import { migrateSchema } from "./migrate-schema.ts";
import { PostgresServer } from "./postgres-server.ts";

/** One tenant's tables in Postgres. Writes of one session are ordered; writes of several sessions share commits. */
export class PostgresDatabase implements Database {
  readonly engine = "postgres";
  readonly place: string;
  readonly #server: PostgresServer;
  readonly #schema: string;
  #closing: Promise<void> | undefined;

  private constructor(server: PostgresServer, place: string, schema: string) {
    this.#server = server;
    this.place = place;
    this.#schema = schema;
  }

  /** Migrates the tables of all tenants. With `directUrl`, `url` may be a pooler in transaction mode. */
  static async open(url: string, directUrl?: string): Promise<PostgresDatabase> {
    const server = new PostgresServer(url, { directUrl });
    const database = new PostgresDatabase(server, withoutPassword(url), POSTGRES_SCHEMA);
    try {
      await server.check();
      if ((await database.#version()) < SCHEMA_VERSION) await migrateSchema(server.directConfig);
      for (const { id } of await database.read(tenantsBehind, SCHEMA_VERSION))
        await migrateSchema(server.directConfig, id);
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  }

  async read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T> {
    if (this.#closing) throw closed();
    return this.#server.use(this.#schema, (execute) => performAsync(operation.work(args), execute), purpose);
  }

  async write<A, T>(operation: Operation<A, T>, args: A, session?: string): Promise<T> {
    if (this.#closing) throw closed();
    try {
      const value = await this.#write(operation, args, session);
      this.#server.noteWrite();
      return value;
    } catch (error) {
      this.#server.noteWrite(error);
      throw error;
    }
  }

  async #write<A, T>(operation: Operation<A, T>, args: A, session: string | undefined): Promise<T> {
    // A write without a session has no contended rows, so it needs no queue.
    if (session === undefined) {
      const alone = await this.#server.single(this.#schema, () => operation.single?.(args));
      if (alone) return alone.value;
      return this.#server.transaction(this.#schema, (execute) => performAsync(operation.work(args), execute));
    }
    const work = (): ReturnType<typeof operation.work> => operation.work(args);
    const single = (): ReturnType<typeof operation.work> | undefined => operation.single?.(args);
    return (await this.#server.write({ schema: this.#schema, session, work, single })) as T;
  }

  watch(listener: ((notice: ChangeNotice) => void) | undefined): void {
    this.#server.watch(this.#schema, listener);
  }

  async tenant(id: string): Promise<Database> {
    const row = await this.read(getTenant, id);
    if (!row) throw toTandemError(noSuchTenant(id).reason);
    const database = new PostgresDatabase(this.#server, this.place, schemaOf(id));
    if ((await database.#version()) < SCHEMA_VERSION) await migrateSchema(this.#server.directConfig, id);
    return database;
  }

  async dropTenant(id: string): Promise<void> {
    await this.#server.transaction(this.#schema, async (execute) => {
      await performAsync(deleteTenant.work(id), execute);
      await execute(raw(`drop schema if exists "${schemaOf(id)}" cascade`));
    });
  }

  async bytes(): Promise<number> {
    const rows = await this.#server.use(this.#schema, (execute) =>
      execute(sql`
        select cast(coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) as bigint) as bytes
        from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname = ${this.#schema} and relkind in ('r', 'p')`),
    );
    return (rows as { bytes: number }[])[0]!.bytes;
  }

  /** The server's disk cannot be seen from here: the last write tells. */
  async checkSpace(): Promise<void> {
    if (this.#server.fullDisk) throw this.#server.fullDisk;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** The default tenant's database owns the connections. */
  async #close(): Promise<void> {
    this.#server.watch(this.#schema, undefined);
    if (this.#schema === POSTGRES_SCHEMA) await this.#server[Symbol.asyncDispose]();
    else await this.#server.drained();
  }

  /** Reads without a lock, so that a role without create rights can use existing tables. */
  #version(): Promise<number> {
    return this.#server.use(this.#schema, async (execute) => {
      const table = `"${this.#schema}".schema_version`;
      const [row] = await execute(sql`select to_regclass(${table}) as found`);
      return (row as { found: string | null }).found === null ? 0 : performAsync(schemaVersion(), execute);
    });
  }
}

const closed = (): Error => toTandemError(unavailable("it has been closed").reason);

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return "postgres";
  parsed.password = "";
  parsed.searchParams.delete("password");
  return parsed.href;
}
