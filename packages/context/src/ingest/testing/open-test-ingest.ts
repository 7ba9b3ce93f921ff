import { configSchema, type IngestReport } from "@tandem/protocol";
import { openStore, type Store } from "@tandem/storage";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ContextFolder } from "../../folder/context-folder.ts";
import { openContextFolder } from "../../folder/open-context-folder.ts";
import { createProposals } from "../../proposals/create-proposals.ts";
import type { Proposals } from "../../proposals/proposals.ts";
import type { Run } from "../../runs/job-run.ts";
import type { ContextTool } from "../../context-tool.ts";
import { ingest } from "../ingest.ts";
import type { ContextStore } from "../../sources/context-store.ts";
import { openSource, type SourceConfig } from "../../sources/open-source.ts";
import type { MetricGate } from "../workbench/metric-tool.ts";
import type { Source } from "../../sources/source.ts";

export interface TestIngest extends AsyncDisposable {
  store: Store;
  space: ContextStore;
  folder: ContextFolder;
  proposals: Proposals;
  /** Writes a document of the source `docs`. */
  write(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Writes a page as a person. */
  writePage(key: string, text: string): Promise<void>;
  page(key: string): Promise<string>;
  source(config?: Partial<SourceConfig>): Source;
  ingest(run: Run, config?: object, tools?: readonly ContextTool[], metrics?: MetricGate): Promise<IngestReport>;
}

/** A folder of documents with its own context, or the existing one in `root`. Without `store`, it has its own. */
export async function openTestIngest(
  documents: Readonly<Record<string, string>>,
  {
    accept = {},
    root,
    store: given,
    folder: own,
  }: { accept?: object; root?: string; store?: Store; folder?: ContextFolder } = {},
): Promise<TestIngest> {
  const home = root ?? (await mkdtemp(join(tmpdir(), "tandem-ingest-")));
  const place = (...parts: string[]) => join(home, ...parts);
  const put = async (path: string, text: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  for (const [name, text] of Object.entries(documents)) await put(place("docs", name), text);
  const store = given ?? (await openStore(place("tandem.db")));
  const folder = own ?? (await openContextFolder({ path: place("context"), git: "own", scratch: place("scratch") }));
  const config = (ingest: object) => configSchema.parse({ ingest, context: { accept } });
  const proposals = createProposals({ folder, store, space: folder.id, accept: config({}).context.accept });
  const space: ContextStore = { space: folder.id, records: store.records, blobs: store.blobs, search: store.search };
  const source = (more: Partial<SourceConfig> = {}) =>
    openSource("docs", { type: "folder", path: "docs", ...more }, { root: home, maxFileMb: 20 });
  return {
    store,
    space,
    folder,
    proposals,
    source,
    write: (path, text) => put(place("docs", path), text),
    remove: (path) => rm(place("docs", path)),
    writePage: (key, text) => put(place("context", "wiki", `${key}.md`), text),
    page: (key) => readFile(place("context", "wiki", `${key}.md`), "utf8"),
    ingest: (run, more = {}, tools = [], metrics) =>
      ingest(run, {
        context: { folder, proposals },
        store: space,
        tools,
        ...(metrics && { metrics }),
        config: config(more).ingest,
        sources: [source()],
      }),
    [Symbol.asyncDispose]: async () => {
      if (!given) await store[Symbol.asyncDispose]();
      if (root === undefined) await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
