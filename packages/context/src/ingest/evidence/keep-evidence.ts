import { RequestError, TandemError } from "@tandem/protocol";
import type { RecordChange, SearchDocument } from "@tandem/storage";
import type { Run } from "../../runs/job-run.ts";
import type { ContextStore } from "../../sources/context-store.ts";
import type { StagedItem } from "../../sources/diff-source.ts";
import { type Chunk, type DocumentRecord, documentRecord, FORM } from "./document-record.ts";
import { DocumentThread } from "./document-thread.ts";

const STAGE = "evidence";

/**
 * Converts the documents of staged items to citable passages, stores and indexes them. Skips unchanged versions.
 * Unreadable documents are listed as skipped and missing from the result, which keeps the order of the items.
 */
export async function keepEvidence(
  run: Run,
  store: ContextStore,
  items: readonly StagedItem[],
): Promise<DocumentRecord[]> {
  run.emit({ type: "stage_started", stage: STAGE, total: items.length });
  const known = await documentsBefore(store, items);
  const kept: DocumentRecord[] = [];
  const counts = { documents: 0, chunks: 0, kept: 0, skipped: 0 };
  await using thread = new DocumentThread();
  let waiting: Cut[] = [];
  for (const [index, item] of items.entries()) {
    run.signal.throwIfAborted();
    const name = `${item.source}/${item.path}`;
    const before = known.get(item.citation);
    try {
      const isKept = before !== undefined && isOf(before, item);
      if (!isKept) waiting.push(await cutDocument(store, thread, item, before));
      const document = isKept ? before : waiting.at(-1)!.document;
      kept.push(document);
      counts.documents += 1;
      counts.chunks += document.chunks.length;
      if (isKept) counts.kept += 1;
    } catch (error) {
      if (!(error instanceof TandemError) || error instanceof RequestError) throw error;
      counts.skipped += 1;
      run.skip(STAGE, name, error);
    }
    if (isEnough(waiting) || index === items.length - 1) {
      await keepAll(store, waiting);
      waiting = [];
    }
    run.emit({ type: "stage_progress", stage: STAGE, done: index + 1, total: items.length, item: name });
  }
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return kept;
}

interface Cut {
  document: DocumentRecord;
  passages: Chunk[];
  /** Citations of the previous version that no longer exist. */
  gone: string[];
}

// Batches writes, because each costs a disk flush. After a crash, unstored documents are converted again at no cost.
const isEnough = (waiting: readonly Cut[]): boolean =>
  waiting.length >= 100 || waiting.reduce((sum, { document }) => sum + document.characters, 0) > 4_000_000;

async function documentsBefore(
  { records, space }: ContextStore,
  items: readonly StagedItem[],
): Promise<Map<string, DocumentRecord>> {
  const stored = await records.getMany(
    space,
    "document",
    items.map(({ citation }) => citation),
  );
  return new Map(
    stored.flatMap(({ key, value }) => {
      // A record of an earlier form may not parse; it is converted again.
      const parsed = documentRecord.safeParse(value);
      return parsed.success ? [[key, parsed.data] as const] : [];
    }),
  );
}

const isOf = (record: DocumentRecord, item: StagedItem): boolean =>
  record.form === FORM &&
  record.sha256 === item.sha256 &&
  record.path === item.path &&
  record.connection === item.connection;

async function cutDocument(
  { blobs, space }: ContextStore,
  thread: DocumentThread,
  item: StagedItem,
  before: DocumentRecord | undefined,
): Promise<Cut> {
  const { citation, source, type, connection, path, sha256, title: given } = item;
  const bytes = await blobs.get(space, sha256);
  if (!bytes) throw new TandemError("unreadable", `${path} is not kept any more.`, { fix: "Ingest the source again." });
  const { chunks, title, ...rest } = await thread.convert({ citation, type, path, title: given, bytes });
  const document: DocumentRecord = {
    citation,
    source,
    type,
    path,
    sha256,
    title,
    ...rest,
    form: FORM,
    ...(connection && { connection }),
    chunks: chunks.map((each) => each.citation),
  };
  return {
    document,
    passages: chunks.map((each): Chunk => ({ ...each, source, path, sha256, title })),
    gone: (before?.chunks ?? []).filter((key) => !document.chunks.includes(key)),
  };
}

async function keepAll({ records, search, space }: ContextStore, cuts: readonly Cut[]): Promise<void> {
  if (cuts.length === 0) return;
  const gone = cuts.flatMap((cut) => cut.gone);
  const passages = cuts.flatMap((cut) => cut.passages);
  // Index first: a stored document is not processed again, so it must already be searchable.
  await search.put(space, passages.map(asSearchDocument));
  if (gone.length > 0) await search.remove(space, gone.map(searchKey));
  await records.write(space, [
    ...gone.map((key): RecordChange => ({ type: "delete", kind: "chunk", key })),
    ...passages.map((value): RecordChange => ({ type: "put", kind: "chunk", key: value.citation, value })),
    ...cuts.map(({ document }): RecordChange => ({
      type: "put",
      kind: "document",
      key: document.citation,
      value: document,
    })),
  ]);
}

const searchKey = (citation: string): string => `chunk:${citation}`;

const asSearchDocument = ({ citation, source, title, headings, content, hash }: Chunk): SearchDocument => ({
  key: searchKey(citation),
  kind: "chunk",
  title: [title, ...headings].join(" › "),
  text: content,
  filters: { source },
  hash,
});

/** Stores the suspicions that the model added, so that no search serves the documents. */
export async function keepSuspicions(
  { records, space }: ContextStore,
  pages: readonly { document: DocumentRecord; suspicious: string | null }[],
): Promise<void> {
  const found = pages.filter(({ document, suspicious }) => suspicious !== document.suspicious);
  if (found.length === 0) return;
  await records.write(
    space,
    found.map(({ document, suspicious }): RecordChange => ({
      type: "put",
      kind: "document",
      key: document.citation,
      value: { ...document, suspicious },
    })),
  );
}

/** Deletes a document and its passages, after everything that rested on it was handled. */
export async function forgetDocument({ records, search, space }: ContextStore, citation: string): Promise<void> {
  const stored = documentRecord.safeParse((await records.get(space, "document", citation))?.value);
  if (!stored.success) return;
  const { chunks } = stored.data;
  await search.remove(space, chunks.map(searchKey));
  await records.write(space, [
    ...chunks.map((key): RecordChange => ({ type: "delete", kind: "chunk", key })),
    { type: "delete", kind: "document", key: citation },
  ]);
}
