import { createHash } from "node:crypto";
import { newId, RequestError, type FileId, type SessionEventBody, isoNow, type Clock } from "@tandem/protocol";
import { deleteRecords, type Records, type SessionRow, type Store } from "@tandem/storage";
import { listFolder, readBytesInside } from "@tandem/workspace";
import { inMounts, OUTPUTS } from "./mount-path.ts";

const SPACE = "tandem";
const KIND = "session_output";
const MAX_FILES = 500;
const MAX_BYTES = 100 * 1024 * 1024;

interface Output {
  file: string;
  sha256: string;
}

/**
 * Stores the files below a session's outputs, so that `files.list({ scope_id })` has them. A changed file replaces the stored
 * one; a removed file stays stored.
 */
export async function collectOutputs(
  { id, folder }: Pick<SessionRow, "id" | "folder">,
  { store, clock }: { store: Pick<Store, "files" | "records">; clock: Clock },
): Promise<SessionEventBody[]> {
  const { paths, isCut } = await findOutputs(folder, inMounts(OUTPUTS, id));
  const skipped = isCut ? [`more than ${MAX_FILES} files`] : [];
  for (const path of paths) {
    const place = `${inMounts(OUTPUTS, id)}/${path}`;
    const content = await readBytesInside(folder, place, { maxBytes: MAX_BYTES }).catch(unreadable);
    if (content === "unreadable") {
      skipped.push(`${path}, which cannot be read`);
      continue;
    }
    if (!content) {
      skipped.push(`${path}, which is larger than ${MAX_BYTES / 1024 / 1024} MB`);
      continue;
    }
    const sha256 = createHash("sha256").update(content).digest("hex");
    const before = await readOutput(store.records, id, path);
    if (before?.sha256 === sha256) continue;
    const file = newId("file");
    await store.files.create(
      {
        type: "file",
        id: file,
        filename: path,
        mime_type: mimeTypeOf(path),
        size_bytes: content.byteLength,
        created_at: isoNow(clock),
        expires_at: null,
        downloadable: true,
        scope: { type: "session", id },
      },
      content,
    );
    const value: Output = { file, sha256 };
    await store.records.write(SPACE, [{ type: "put", kind: KIND, key: `${id}/${path}`, value }]);
    if (before) await store.files.delete(before.file as FileId);
  }
  if (skipped.length === 0) return [];
  return [{ type: "tandem.notice", level: "warning", text: `Not stored among the outputs: ${skipped.join("; ")}.` }];
}

/** One file that is closed, or gone by now, must not keep the others out. */
function unreadable(error: unknown): "unreadable" {
  if (error instanceof RequestError) return "unreadable";
  throw error;
}

/** Forgets which outputs were stored. The files themselves are deleted with their session. */
export async function forgetOutputs(records: Records, id: string): Promise<void> {
  await deleteRecords(records, SPACE, KIND, { prefix: `${id}/` });
}

async function findOutputs(folder: string, root: string): Promise<{ paths: string[]; isCut: boolean }> {
  const paths: string[] = [];
  const folders = [root];
  for (const each of folders) {
    const entries = await listFolder(folder, each).catch((error: unknown) => {
      if (error instanceof RequestError) return [];
      throw error;
    });
    for (const { path, type } of entries) {
      if (type === "folder") folders.push(path);
      if (type === "file") paths.push(path.slice(root.length + 1));
      if (paths.length > MAX_FILES || folders.length > MAX_FILES) {
        return { paths: paths.slice(0, MAX_FILES), isCut: true };
      }
    }
  }
  return { paths, isCut: false };
}

async function readOutput(records: Records, id: string, path: string): Promise<Output | undefined> {
  const value = (await records.get(SPACE, KIND, `${id}/${path}`))?.value;
  if (typeof value !== "object" || value === null || !("file" in value) || !("sha256" in value)) return undefined;
  return { file: String(value.file), sha256: String(value.sha256) };
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  xml: "application/xml",
  zip: "application/zip",
};

const mimeTypeOf = (path: string): string =>
  MIME_TYPES[/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ""] ?? "application/octet-stream";
