import type { IngestReport, Source } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { resolve } from "node:path";
import { jobModels, loadContext, openContext, openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { ingestSources } from "@tandem/tandem/context";
import { EXIT_CODES, exitCodeOf } from "../../exit-code.ts";
import { describeIngest, describeIngestPlan, ingestAsJson, type IngestOutcome } from "../../jobs/describe-ingest.ts";
import { runContextJob } from "../../jobs/run-context-job.ts";
import { openProject } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { readPrompt } from "../../read-prompt.ts";
import { styleFor, write } from "../../terminal.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command
    .argument("[source...]", "names of sources (default: all of this project)")
    .option("--text <text>", "a text instead; - reads it from standard input")
    .addOption(
      new Option("--file <path>", "a file instead; may be given more than once").argParser(
        (path: string, all: string[] | undefined) => [...(all ?? []), path],
      ),
    )
    .option("--dry-run", "say what would be read, asked and about spent, and do nothing")
    .addOption(json())
    .action((names: string[], options: IngestOptions, self: Command) =>
      runner(self, (invocation) => ingest(invocation, names, options)),
    );
  examples(
    command,
    "tandem ingest",
    "tandem ingest handbook --dry-run",
    'tandem ingest --text "Refunds are paid within 30 days."',
    "pbpaste | tandem ingest --text -",
    "tandem ingest --file minutes.pdf --json | jq '.proposals'",
  );
}

/** Time to save progress and end child processes. */
const STOP_MS = 3_000;

export interface IngestOptions {
  text?: string;
  file?: string[];
  dryRun?: boolean;
}

export async function ingest(
  invocation: Invocation,
  names: readonly string[],
  options: IngestOptions,
): Promise<number> {
  const project = await openProject(invocation);
  const files = options.file?.map((file) => resolve(invocation.cwd, file));
  const text = await givenText(invocation, options.text);
  const { sources, params } = await ingestSources(project, { names, files, text });
  await using store = await openStore(invocation, project);
  if (options.dryRun) {
    await plan(invocation, project, store, sources);
    return EXIT_CODES.ok.code;
  }
  invocation.allowToStop(STOP_MS);
  const { row, watched, milliseconds } = await runContextJob(invocation, project, store, {
    kind: "ingest",
    params,
    command: "tandem ingest",
    title: "ingest",
    given: files || text !== undefined ? { files, text } : undefined,
  });
  const outcome: IngestOutcome = { ...watched, row, report: row.result as IngestReport | null, milliseconds };
  if (invocation.json) await write(invocation.stdout, `${JSON.stringify(ingestAsJson(outcome), null, 2)}\n`);
  else await write(invocation.stdout, `${describeIngest(invocation, outcome).join("\n")}\n`);
  if (!invocation.json && project.config.llm.provider.backend === "none") {
    const { dim } = styleFor(invocation.stdout);
    await write(invocation.stdout, `${dim("No model is set up: documents were kept, and not read. → tandem setup")}\n`);
  }
  if (row.state === "done") return EXIT_CODES.ok.code;
  return row.error ? exitCodeOf(row.error.code) : EXIT_CODES.failure.code;
}

async function givenText(invocation: Invocation, text: string | undefined): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const given = text === "-" ? await readPrompt(invocation, [], "ingest --text") : text;
  if (given.trim() === "")
    throw new TandemError("usage", "The text is empty.", { fix: "Give one, or leave --text out." });
  return given;
}

/** Reads the sources without calling a model or storing anything. */
async function plan(invocation: Invocation, project: Project, store: Store, sources: readonly Source[]): Promise<void> {
  const { config } = project;
  const library = await loadContext();
  const { modelOf } = await jobModels(invocation, project);
  const { id: space } = await openContext(project, store);
  using progress = new Progress(invocation, "Reading …");
  const planned = await library.planIngest(
    { records: store.records, blobs: store.blobs, search: store.search, space },
    sources,
    { ingest: config.ingest, modelOf, signal: invocation.signal },
  );
  progress[Symbol.dispose]();
  const hasModel = config.llm.provider.backend !== "none";
  if (invocation.json) await write(invocation.stdout, `${JSON.stringify(planned, null, 2)}\n`);
  else await write(invocation.stdout, `${describeIngestPlan(invocation, planned, hasModel).join("\n")}\n`);
}
