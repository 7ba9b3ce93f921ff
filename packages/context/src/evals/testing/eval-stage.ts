import { type Connection, openConnection } from "@tandem/connectors";
import { configSchema, type EvalReport, evalReport } from "@tandem/protocol";
import { profileTables } from "@tandem/relationships";
import { openStore, type JobRow, type Store } from "@tandem/storage";
import { mkdtemp, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withMethods } from "../../scan/testing/with-methods.ts";
import { updateTableFile } from "../../catalogue/update-table-file.ts";
import { Metrics } from "../../metrics/metrics-service.ts";
import { MetricsReader } from "../../metric-definitions/metrics-reader.ts";
import { type Context, openContext } from "../../open-context.ts";
import type { Budget } from "../../runs/metered-llm.ts";
import type { RehearsedBackend } from "../../scan/testing/rehearsed-backend.ts";
import { runOneJob } from "../../testing/run-one-job.ts";
import { createContextTools } from "../../tools/context-tools.ts";
import { evalParams } from "../eval-params.ts";
import { runEvals } from "../run-evals.ts";

export interface StageRun {
  params?: object;
  /** The name under which answers are recorded. */
  model?: string;
  limit?: Budget;
  signal?: AbortSignal;
}

/** A context over a small database, with eval files and a scripted model. */
export class EvalStage implements AsyncDisposable {
  readonly context: Context;
  readonly database: DatabaseSync;
  readonly #store: Store;
  readonly #home: string;
  readonly #backend: RehearsedBackend;
  #connection: Connection | undefined;

  private constructor(context: Context, database: DatabaseSync, store: Store, home: string, backend: RehearsedBackend) {
    this.context = context;
    this.database = database;
    this.#store = store;
    this.#home = home;
    this.#backend = backend;
  }

  static async open(sql: string, files: Record<string, string>, backend: RehearsedBackend): Promise<EvalStage> {
    const home = await mkdtemp(join(tmpdir(), "tandem-eval-stage-"));
    const path = join(home, "shop.sqlite");
    const database = new DatabaseSync(path);
    database.exec(sql);
    const store = await openStore(join(home, "tandem.db"));
    const { accept } = configSchema.parse({}).context;
    const context = await openContext({ path: join(home, "context"), git: "own", accept, store });
    const stage = new EvalStage(context, database, store, home, backend);
    await stage.write({ ...(await catalogueOf(path)), ...files });
    return stage;
  }

  /** Writes files as a person would. */
  async write(files: Record<string, string>): Promise<void> {
    const { folder } = this.context;
    const changes = Object.entries(files).map(async ([path, content]) => ({
      path,
      content,
      expected: (await folder.read(path)) ?? null,
    }));
    await folder.commit(await Promise.all(changes), { subject: "Files" });
  }

  async run({ params = {}, model = "claude-sonnet-5", limit, signal }: StageRun = {}): Promise<JobRow> {
    const { folder } = this.context;
    const location = { driver: "sqlite" as const, path: join(this.#home, "shop.sqlite") };
    const runtime = this.#backend.runtime;
    // One for all runs of the stage: its reader processes are dear to start.
    const connection = (this.#connection ??= await openConnection(location));
    const shared = withMethods(connection, { [Symbol.asyncDispose]: async () => {} });
    return await runOneJob({
      store: this.#store,
      space: folder.id,
      kind: "evals",
      params,
      holder: "a test",
      llm: {
        backend: runtime.backend,
        open: async (onReport) => {
          this.#backend.onReport = onReport;
          return { ...runtime, close: async () => {} };
        },
      },
      modelOf: () => model,
      signal,
      body: (run) =>
        runEvals(run, {
          context: this.context,
          store: this.#store,
          embedder: undefined,
          createTools: ({ now, ...view }) => {
            const dialects = new Map([["shop", "sqlite" as const]]);
            const open = async () => connection;
            const reader = new MetricsReader(view.folder, () => dialects);
            const metrics = new Metrics({ ...view, reader, open, ...(now && { now }) });
            return createContextTools({ ...view, metrics, connections: { dialects, open } });
          },
          connect: async () => shared,
          locate: async () => location,
          params: evalParams.parse(params),
          limit,
        }),
    });
  }

  async report(run: StageRun = {}): Promise<EvalReport> {
    const row = await this.run(run);
    if (row.result === null) throw new Error(JSON.stringify(row.error));
    return evalReport.parse(row.result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
    this.database.close();
    await this.#store[Symbol.asyncDispose]();
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The catalogue that a scan would write, with declared joins. */
async function catalogueOf(path: string): Promise<Record<string, string>> {
  await using connection = await openConnection({ driver: "sqlite", path });
  const tables = await connection.structure();
  const { profiles } = await profileTables(connection, tables, { isForCatalogue: true });
  return Object.fromEntries(
    tables.map((table) => {
      const draft = updateTableFile(
        {
          connection: "shop",
          table,
          profile: profiles.find((profile) => profile.name === table.name)!,
          joins: table.foreignKeys.map(({ columns, to, toColumns }) => ({
            from: { table: { schema: table.schema, name: table.name }, columns },
            to: { table: to, columns: toColumns },
            origin: "declared" as const,
            status: "accepted" as const,
            confidence: 1,
            cardinality: "many-to-one" as const,
            why: [],
          })),
          descriptions: { table: `Rows of ${table.name}.` },
          model: "test",
        },
        null,
      );
      return [draft.path, draft.after!];
    }),
  );
}
