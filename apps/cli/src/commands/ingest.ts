import type { IngestReport } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import {
  holderName,
  jobModels,
  loadContext,
  openContext,
  openEmbedder,
  openNamedConnection,
  openStore,
} from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Context } from "../context.ts";
import { Databases, ingestSources } from "@tandem/tandem/context";
import { EXIT_CODES, exitCodeOf } from "../exit-code.ts";
import { describeIngest, describeIngestPlan, ingestAsJson, type IngestOutcome } from "../jobs/describe-ingest.ts";
import { RunView } from "../jobs/run-view.ts";
import { type Watched, watchJob } from "../jobs/watch-job.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../progress.ts";
import { readPrompt } from "../read-prompt.ts";
import { styleFor, write } from "../terminal.ts";

const COMMAND = "tandem ingest";
/** To write down how far it has come, and to end what was started. */
const STOP_MS = 3_000;

export interface IngestOptions {
  text?: string;
  file?: string[];
  dryRun?: boolean;
}

export async function ingest(context: Context, names: readonly string[], options: IngestOptions): Promise<number> {
  const project = await openProject(context);
  const wanted = { names, files: options.file, text: await givenText(context, options.text) };
  const { sources, params } = await ingestSources(project, wanted);
  await using store = await openStore(context, project);
  if (options.dryRun) {
    await plan(context, project, store, sources);
    return EXIT_CODES.ok.code;
  }
  context.allowToStop(STOP_MS);
  const outcome = await runIngest(context, project, store, { sources, params });
  if (context.json) await write(context.stdout, `${JSON.stringify(ingestAsJson(outcome), null, 2)}\n`);
  else await write(context.stdout, `${describeIngest(context, outcome).join("\n")}\n`);
  if (!context.json && project.config.llm.provider.backend === "none") {
    const { dim } = styleFor(context.stdout);
    await write(context.stdout, `${dim("No model is set up: documents were kept, and not read. → tandem setup")}\n`);
  }
  const { row } = outcome;
  if (row.state === "done") return EXIT_CODES.ok.code;
  return row.error ? exitCodeOf(row.error.code) : EXIT_CODES.failure.code;
}

async function givenText(context: Context, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const given = text === "-" ? await readPrompt(context, [], "ingest --text") : text;
  if (given.trim() === "")
    throw new TandemError("usage", "The text is empty.", { fix: "Give one, or leave --text out." });
  return given;
}

type Chosen = Awaited<ReturnType<typeof ingestSources>>;

async function runIngest(
  context: Context,
  project: Project,
  store: Store,
  { sources, params }: Chosen,
): Promise<IngestOutcome> {
  const started = Date.now();
  using view = new RunView(context, "ingest");
  const room = await loadContext();
  const embedder = await openEmbedder(context, project);
  await using _ = { [Symbol.asyncDispose]: async () => embedder?.close() };
  const parts = await openContext(project, store, embedder);
  const connect = (name: string) => openNamedConnection(context, project, name);
  await using databases = new Databases(project.config.connections, connect);
  const watching = new AbortController();
  let watched: Promise<Watched> | undefined;
  try {
    const row = await parts.run({
      kind: "ingest",
      params,
      holder: holderName(COMMAND),
      ...(await jobModels(context, project)),
      signal: context.signal,
      onStart: (job) => {
        watched = watchJob(store.jobs, job, (event, isKept) => view.show(event, isKept), watching.signal);
      },
      body: (run) =>
        room.ingest(run, {
          context: parts,
          store: { ...{ records: store.records, blobs: store.blobs, search: store.search }, space: parts.id },
          config: project.config.ingest,
          sources,
          tools: room.createContextTools({
            ...{ folder: parts.folder, search: parts.search, catalogue: new room.CatalogueReader(parts.folder) },
            connections: databases,
          }),
          ...(embedder && { embedder }),
        }),
    });
    const told = await watched!;
    return { ...told, row, report: row.result as IngestReport | null, milliseconds: Date.now() - started };
  } finally {
    watching.abort();
    await watched?.catch(() => {});
  }
}

/** Reads the sources, and neither asks a model nor keeps anything of them. */
async function plan(context: Context, project: Project, store: Store, sources: Chosen["sources"]): Promise<void> {
  const { config } = project;
  const room = await loadContext();
  const { modelOf } = await jobModels(context, project);
  const { id: space } = await openContext(project, store);
  using progress = new Progress(context, "Reading …");
  const planned = await room.planIngest(
    { ...{ records: store.records, blobs: store.blobs, search: store.search }, space },
    sources,
    { ingest: config.ingest, modelOf, signal: context.signal },
  );
  progress[Symbol.dispose]();
  const hasModel = config.llm.provider.backend !== "none";
  if (context.json) await write(context.stdout, `${JSON.stringify(planned, null, 2)}\n`);
  else await write(context.stdout, `${describeIngestPlan(context, planned, hasModel).join("\n")}\n`);
}
