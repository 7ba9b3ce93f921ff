import { type Connection, openConnection } from "@tandem/connectors";
import { configSchema, type EvalReport, evalReport } from "@tandem/protocol";
import { profileTables } from "@tandem/relationships";
import type { JobRow } from "@tandem/storage";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { inject } from "vitest";
import { withMethods } from "../../scan/testing/with-methods.ts";
import { updateTableFile } from "../../catalogue/update-table-file.ts";
import { Metrics } from "../../metrics/metrics-service.ts";
import { MetricsReader } from "../../metric-definitions/metrics-reader.ts";
import { openContext } from "../../open-context.ts";
import type { Budget } from "../../runs/metered-llm.ts";
import type { RehearsedBackend } from "../../scan/testing/rehearsed-backend.ts";
import { openScratch } from "../../testing/open-scratch.ts";
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

export type EvalStage = Awaited<ReturnType<typeof openEvalStage>>;

/** A context over a small database, with eval files and a scripted model. */
export async function openEvalStage(sql: string, files: Record<string, string>, backend: RehearsedBackend) {
  await using parts = new AsyncDisposableStack();
  const { home, store } = await openScratch(parts);
  const location = { driver: "sqlite" as const, path: join(home, "shop.sqlite") };
  const database = parts.adopt(new DatabaseSync(location.path), (opened) => opened.close());
  database.exec(sql);
  const { accept } = configSchema.parse({}).context;
  const context = await openContext({ path: join(home, "context"), git: "own", accept, store });
  const { folder } = context;
  /** Writes files as a person would. */
  const write = async (changed: Record<string, string>): Promise<void> => {
    const changes = Object.entries(changed).map(async ([path, content]) => ({
      path,
      content,
      expected: (await folder.read(path)) ?? null,
    }));
    await folder.commit(await Promise.all(changes), { subject: "Files" });
  };
  await write({ ...(await catalogueOf(location.path)), ...files });
  let opened: Connection | undefined;
  const run = async ({ params = {}, model = "claude-sonnet-5", limit, signal }: StageRun = {}): Promise<JobRow> => {
    // One for all runs of the stage: its reader processes are dear to start.
    const connection = (opened ??= owned.use(await openConnection(location)));
    const shared = withMethods(connection, { [Symbol.asyncDispose]: async () => {} });
    return await runOneJob({
      store,
      space: folder.id,
      kind: "evals",
      params,
      holder: "a test",
      llm: backend.source,
      modelOf: () => model,
      signal,
      body: (job) =>
        runEvals(job, {
          context,
          store,
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
  };
  const owned = parts.move();
  return {
    context,
    database,
    write,
    run,
    report: async (wanted: StageRun = {}): Promise<EvalReport> => {
      const row = await run(wanted);
      if (row.result === null) throw new Error(JSON.stringify(row.error));
      return evalReport.parse(row.result);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The catalogue that a scan would write, with declared joins. */
async function catalogueOf(path: string): Promise<Record<string, string>> {
  await using connection = await openConnection({ driver: "sqlite", path });
  const tables = await connection.structure();
  const { profiles } = await profileTables(connection, tables, {
    isForCatalogue: true,
    // A query may have to wait for the start of a process that reads the file.
    timeoutMs: 60_000 * inject("slowness"),
  });
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
