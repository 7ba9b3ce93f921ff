import type { IncomingMessage } from "node:http";
import { RequestError } from "@tandem/protocol";
import type { FileMemoryLimit } from "./file-memory-limit.ts";
import type { Upload } from "../route.ts";
import { hasBody, readBytes, wantType } from "./read-body.ts";

/** The size of a form besides its file. */
const FORM_BYTES = 64 * 1024;
/** The headers of many small files. */
const MANY_BYTES = 2 * 1024 * 1024;
const MAX_NAME_LENGTH = 255;

export interface Form {
  fields: Record<string, string>;
  /** At least one; exactly one unless `many` is set. */
  uploads: Upload[];
}

/** With `many`, the form may have several files, and their names are paths that the handler checks. */
interface UploadLimits {
  fileMemory: FileMemoryLimit;
  limit: number;
  many: boolean;
}

/** Parses a form with files. Holds the memory reservation until `use` is done. */
export async function receiveUpload<T>(
  incoming: IncomingMessage,
  { fileMemory, limit, many }: UploadLimits,
  use: (form: Form) => Promise<T>,
): Promise<T> {
  wantType(incoming, "multipart/form-data");
  if (!hasBody(incoming)) throw new RequestError("invalid_request", "file: is missing.");
  const most = limit + (many ? MANY_BYTES : FORM_BYTES);
  // Without a content length, reserve the maximum.
  const release = fileMemory.reserve(Math.min(Number(incoming.headers["content-length"] ?? Infinity), most));
  try {
    const bytes = await readBytes(incoming, most);
    return await use(await readForm(bytes, incoming.headers["content-type"]!, { limit, many }));
  } finally {
    release();
  }
}

async function readForm(
  bytes: Buffer<ArrayBuffer>,
  type: string,
  { limit, many }: Pick<UploadLimits, "limit" | "many">,
): Promise<Form> {
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw new RequestError("invalid_request", "The body is not a valid form.", { cause });
  });
  const fields: [string, string][] = [];
  const files: File[] = [];
  for (const [name, value] of form) {
    if (typeof value === "string") fields.push([name, value]);
    else if (!(many ? MANY_NAMES : ["file"]).includes(name) || (files.length > 0 && !many)) {
      const expected = many ? "files, under the name `files[]`" : "one file, under the name `file`";
      throw new RequestError("invalid_request", `${name}: expected ${expected}.`);
    } else files.push(value);
  }
  if (files.length === 0) throw new RequestError("invalid_request", `${many ? "files" : "file"}: is missing.`);
  if (files.some(({ size }) => size > limit)) {
    throw new RequestError("too_large", `file: larger than ${Math.floor(limit / 1024)} KiB.`);
  }
  const uploads = await Promise.all(
    files.map(async (file) => ({
      filename: many ? file.name : plainName(file.name),
      mimeType: file.type || "application/octet-stream",
      content: new Uint8Array(await file.arrayBuffer()),
    })),
  );
  return { fields: Object.fromEntries(fields), uploads };
}

/** The first is the official clients' name. */
const MANY_NAMES = ["files[]", "files", "file"];

/** Removes directories, so that the name cannot be used for path traversal. */
function plainName(name: string): string {
  const plain = name.replaceAll(/\p{C}/gu, "").split(/[/\\]/).at(-1)!.trim();
  if (plain === "" || plain === "." || plain === "..") {
    throw new RequestError("invalid_request", "file: expected a file with a name.");
  }
  if (plain.length > MAX_NAME_LENGTH) {
    throw new RequestError("invalid_request", `file: its name is longer than ${MAX_NAME_LENGTH} characters.`);
  }
  return plain;
}
