import { type Connection, openConnection } from "@tandem/connectors";
import { type Config, configSchema, type JobId, type ScanResult } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import { type JobRow, openStore, type Store } from "@tandem/storage";
import { git } from "@tandem/workspace";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseTableFile, type TableFile } from "../../catalogue/table-file.ts";
import { openContextFolder } from "../../folder/open-context-folder.ts";
import { createProposals } from "../../proposals/create-proposals.ts";
import { runOneJob } from "../../testing/run-one-job.ts";
import { runEvent, type RunEvent } from "../../runs/job-run.ts";
import { ContextSearch } from "../../search/context-search.ts";
import { scan } from "../scan.ts";
import type { ScanContext } from "../scan-context.ts";
import type { RehearsedBackend } from "./rehearsed-backend.ts";

export interface ScanOutcome {
  state: JobRow["state"];
  error: JobRow["error"];
  result: ScanResult;
  events: RunEvent[];
  skipped: { stage: string; item: string; code: string }[];
  /** Model requests of this scan. */
  requests: number;
}

interface ScanSettings {
  script?: Script;
  scan?: Partial<Config["scan"]>;
  llm?: object;
  signal?: AbortSignal;
  connection?: (connection: Connection) => Connection;
}

/** A real database, context and store, for scans. */
export class ScanStage implements AsyncDisposable {
  readonly context: ScanContext;
  readonly search: ContextSearch;
  readonly database: DatabaseSync;
  readonly #store: Store;
  readonly #home: string;
  readonly #isShared: boolean;
  readonly #backend: RehearsedBackend | undefined;
  #connection: Connection | undefined;

  private constructor(
    parts: {
      context: ScanContext;
      search: ContextSearch;
      store: Store;
      home: string;
      database: DatabaseSync;
      isShared: boolean;
    },
    backend: RehearsedBackend | undefined,
  ) {
    this.context = parts.context;
    this.search = parts.search;
    this.database = parts.database;
    this.#store = parts.store;
    this.#home = parts.home;
    this.#isShared = parts.isShared;
    this.#backend = backend;
  }

  /** Without a backend: a project without a model. Without `shared`, the stage has its own store. */
  static async open(sql: string, backend?: RehearsedBackend, accept: object = {}, shared?: Store): Promise<ScanStage> {
    const home = await mkdtemp(join(tmpdir(), "tandem-scan-"));
    const database = new DatabaseSync(join(home, "shop.sqlite"));
    database.exec(sql);
    const store = shared ?? (await openStore(join(home, "tandem.db")));
    const folder = await openContextFolder({ path: join(home, "context"), git: "own", scratch: join(home, "scratch") });
    const rules = configSchema.parse({ context: { accept } }).context.accept;
    const proposals = createProposals({ folder, store, space: folder.id, accept: rules });
    const search = new ContextSearch({ folder, store });
    const context = { folder, proposals, search };
    return new ScanStage({ context, search, store, home, database, isShared: shared !== undefined }, backend);
  }

  async scan({
    script = [],
    scan: settings = {},
    llm = {},
    signal,
    connection,
  }: ScanSettings = {}): Promise<ScanOutcome> {
    const backend = this.#backend;
    const runtime = backend?.play(script, llm);
    // One for all scans of the stage: its reader processes are dear to start.
    this.#connection ??= await openConnection({ driver: "sqlite", path: join(this.#home, "shop.sqlite") });
    const opened = this.#connection;
    const config = { ...configSchema.parse({}).scan, ...settings };
    let id: JobId | undefined;
    const row = await runOneJob({
      store: this.#store,
      space: this.context.folder.id,
      kind: "scan",
      params: { connection: "shop" },
      holder: "a test",
      llm: runtime && {
        backend: runtime.backend,
        open: async (onReport) => {
          backend!.onReport = onReport;
          return { ...runtime, close: async () => {} };
        },
      },
      modelOf: () => backend?.model ?? "none",
      signal,
      onStart: (job) => void (id = job),
      body: (run) =>
        scan(run, {
          context: this.context,
          connectionName: "shop",
          connection: connection ? connection(opened) : opened,
          config,
        }),
    });
    const log = await this.#store.jobs.events(id!, { after: 0, limit: 10_000 });
    const events = log.map(({ event }) => runEvent.parse(event));
    return {
      state: row.state,
      error: row.error,
      result: row.result as ScanResult,
      events,
      skipped: events.flatMap((event) =>
        event.type === "skipped" ? [{ stage: event.stage, item: event.item, code: event.code }] : [],
      ),
      requests: backend?.rehearsal.modelRequests.length ?? 0,
    };
  }

  /** Everything that the stage keeps on disk: files, git objects and the store, without the scanned database. */
  async storedText(): Promise<string> {
    const { path } = this.context.folder;
    const objects = await git(path, ["cat-file", "--batch", "--batch-all-objects"]);
    const names = await readdir(this.#home, { recursive: true });
    const files = names.filter((name) => !name.startsWith("shop.sqlite") && !name.includes(".git/"));
    const texts = files.map((name) => readFile(join(this.#home, name), "utf8").catch(() => ""));
    return [objects, ...(await Promise.all(texts))].join("\n");
  }

  path(table: string): string {
    return `catalogue/shop/main.${table}.yaml`;
  }

  /** Undefined if the catalogue lacks the table. */
  async file(table: string): Promise<TableFile | undefined> {
    const text = await this.context.folder.read(this.path(table));
    if (text === undefined) return undefined;
    const parsed = parseTableFile(text);
    if (!parsed.success) throw new Error(JSON.stringify(parsed.problems));
    return parsed.table;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
    this.database.close();
    if (!this.#isShared) await this.#store[Symbol.asyncDispose]();
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
}
