import type { IncomingMessage } from "node:http";
import { RequestError } from "@tandem/protocol";
import type { FileMemoryLimit } from "./file-memory-limit.ts";
import { hasBody, readBytes, wantType } from "./read-body.ts";

/** The size of a form besides its file. */
const FORM_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 255;

export interface Form {
  fields: Record<string, string>;
  upload: { filename: string; mimeType: string; content: Uint8Array };
}

/** Parses a form with a file. Holds the memory reservation until `use` is done. */
export async function receiveUpload<T>(
  incoming: IncomingMessage,
  { fileMemory, limit }: { fileMemory: FileMemoryLimit; limit: number },
  use: (form: Form) => Promise<T>,
): Promise<T> {
  wantType(incoming, "multipart/form-data");
  if (!hasBody(incoming)) throw new RequestError("invalid_request", "file: is missing.");
  // Without a content length, reserve the maximum.
  const release = fileMemory.reserve(
    Math.min(Number(incoming.headers["content-length"] ?? Infinity), limit + FORM_BYTES),
  );
  try {
    const bytes = await readBytes(incoming, limit + FORM_BYTES);
    return await use(await readForm(bytes, incoming.headers["content-type"]!, limit));
  } finally {
    release();
  }
}

async function readForm(bytes: Buffer<ArrayBuffer>, type: string, limit: number): Promise<Form> {
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw new RequestError("invalid_request", "The body is not a valid form.", { cause });
  });
  const fields: [string, string][] = [];
  let file: File | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") fields.push([name, value]);
    else if (name !== "file" || file) {
      throw new RequestError("invalid_request", `${name}: expected one file, under the name \`file\`.`);
    } else file = value;
  }
  if (!file) throw new RequestError("invalid_request", "file: is missing.");
  if (file.size > limit) throw new RequestError("too_large", `file: larger than ${Math.floor(limit / 1024)} KiB.`);
  return {
    fields: Object.fromEntries(fields),
    upload: {
      filename: plainName(file.name),
      mimeType: file.type || "application/octet-stream",
      content: new Uint8Array(await file.arrayBuffer()),
    },
  };
}

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
