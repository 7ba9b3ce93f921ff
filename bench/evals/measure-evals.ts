import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type DatabaseLocation, openConnection } from "@tandem/connectors";
import {
  type Context,
  createContextTools,
  evalParams,
  jobKind,
  JobRunner,
  type LoadedEvals,
  loadEvals,
  Metrics,
  MetricsReader,
  openContext,
  runEvals,
  scan,
} from "@tandem/context";
import { configSchema, type EvalReport, evalReport } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { z } from "zod";
import { DESCRIPTIONS } from "../retrieval/descriptions.ts";

const DATA = new URL("../data/", import.meta.url).pathname;
const DEMO = new URL("../../apps/cli/src/demo/context/", import.meta.url).pathname;

export interface MeasuredEvals {
  name: string;
  questions: number;
  /** Gold statements that must be proven. */
  proven: number;
  report: EvalReport;
}

const EVALS: Record<string, string> = {
  chinook: new URL("chinook.yaml", import.meta.url).pathname,
  northwind: new URL("northwind.yaml", import.meta.url).pathname,
  shop: join(DEMO, "evals/shop.yaml"),
};

/** The questions as they are shipped. */
export async function loadShippedEvals(): Promise<LoadedEvals[]> {
  const list = async () => Object.keys(EVALS).map((name) => `evals/${name}.yaml`);
  const read = (path: string) => readFile(EVALS[path.slice("evals/".length, -".yaml".length)]!, "utf8");
  return await loadEvals({ list, read }, []);
}

/** Scans the three sample databases without a model, accepts what was found, and runs the shipped questions. */
export async function measureEvals(): Promise<MeasuredEvals[]> {
  const home = await mkdtemp(join(tmpdir(), "tandem-evals-"));
  try {
    const files = {
      chinook: join(DATA, "chinook.sqlite"),
      northwind: join(DATA, "northwind.sqlite"),
      shop: join(home, "shop.sqlite"),
    };
    const shop = new DatabaseSync(files.shop);
    shop.exec(await readFile(join(DEMO, "shop.sql"), "utf8"));
    shop.close();
    return await measure(home, files);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function measure(home: string, files: Record<string, string>): Promise<MeasuredEvals[]> {
  await using owned = new AsyncDisposableStack();
  const store = owned.use(await openStore(join(home, "tandem.db")));
  const config = configSchema.parse({});
  const context = await openContext({ path: join(home, "context"), git: "own", accept: config.context.accept, store });
  const { folder, proposals } = context;
  const locate = async (name: string): Promise<DatabaseLocation> => ({ driver: "sqlite", path: files[name]! });
  const connect = async (name: string) => await openConnection(await locate(name));
  const dialects = new Map(Object.keys(files).map((name) => [name, "sqlite" as const]));
  const opened = new Map(
    await Promise.all(Object.keys(files).map(async (name) => [name, owned.use(await connect(name))] as const)),
  );
  const connections = { dialects, open: async (name: string) => opened.get(name)! };
  const runner = owned.use(
    new JobRunner({
      store,
      space: context.id,
      holder: "bench",
      models: { llm: undefined, modelOf: () => "none" },
      log: { warn: () => undefined },
      kinds: {
        scan: jobKind(z.object({ connection: z.string() }), (run, { connection: connectionName }) =>
          scan(run, { context, connectionName, connection: opened.get(connectionName)!, config: config.scan }),
        ),
        evals: jobKind(evalParams, (run, params) =>
          runEvals(run, {
            context,
            store,
            embedder: undefined,
            createTools: ({ now, ...view }) => {
              const reader = new MetricsReader(view.folder, () => dialects);
              const metrics = new Metrics({ ...view, reader, open: connections.open, ...(now && { now }) });
              return createContextTools({ ...view, connections, metrics });
            },
            connect,
            locate,
            params,
            limit: undefined,
          }),
        ),
      },
    }),
  );
  const signal = AbortSignal.timeout(600_000);
  const perform = (kind: string, params: unknown) => runner.run(kind, params, { signal, onStart: () => undefined });
  for (const name of Object.keys(files)) {
    await perform("scan", { connection: name });
    for (const { id } of await proposals.list({ states: ["open"], limit: 100 }))
      await proposals.accept(id, { by: "bench" });
    await mkdir(join(folder.path, "evals"), { recursive: true });
    await cp(EVALS[name]!, join(folder.path, "evals", `${name}.yaml`));
  }
  await describeTables(context, Object.keys(files));
  const measured: MeasuredEvals[] = [];
  for (const name of Object.keys(files)) {
    const row = await perform("evals", { files: [name], ask: false });
    if (row.result === null) throw new Error(JSON.stringify(row.error));
    const [loaded] = await loadEvals(folder, [name]);
    const questions = loaded!.file.questions;
    const proven = questions.filter(({ verdict }) => verdict === "proven").length;
    measured.push({ name, questions: questions.length, proven, report: evalReport.parse(row.result) });
  }
  return measured;
}

/** Writes a sentence per table, as a person would. */
async function describeTables({ folder }: Context, names: readonly string[]): Promise<void> {
  for (const path of await folder.list("catalogue/")) {
    const [, name = "", file = ""] = path.split("/");
    const table = decodeURIComponent(file.replace(/\.yaml$/, "").replace(/^main\./, ""));
    const sentence = DESCRIPTIONS[name]?.[table];
    const text = await folder.read(path);
    if (sentence === undefined || text === undefined || !names.includes(name)) continue;
    const described = text.replace(/^columns:/m, `descriptions:\n  human: ${JSON.stringify(sentence)}\ncolumns:`);
    await writeFile(join(folder.path, path), described);
  }
}
