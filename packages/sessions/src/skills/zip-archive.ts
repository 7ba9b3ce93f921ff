import { promisify } from "node:util";
import { crc32, deflateRaw, inflateRaw } from "node:zlib";
import { RequestError } from "@tandem/protocol";

// The part of the zip format that skills need: stored and deflated files. Anything else is refused by name.

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw);
const deflate = promisify<Uint8Array, Buffer>(deflateRaw);

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 0x1;
const UTF8 = 0x800;
const UNIX = 3;
const FILE_TYPE = 0o170_000;
const REGULAR = 0o100_000;
const FOLDER = 0o040_000;
/** 1980-01-01, the earliest date of the format. A fixed date makes equal contents equal archives. */
const DATE = 0x21;

export interface ArchivedFile {
  path: string;
  content: Buffer;
}

/** Whether bytes begin like a zip archive, also an empty one. */
export const isZip = (bytes: Uint8Array): boolean =>
  bytes.length >= END_BYTES &&
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6));

/** Creates an archive. Equal files in the same order give equal bytes. */
export async function packZip(files: readonly ArchivedFile[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of files) {
    const name = Buffer.from(path);
    const packed = await deflate(content);
    const isSmaller = packed.length < content.length;
    const data = isSmaller ? packed : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8, 2);
    common.writeUInt16LE(isSmaller ? DEFLATED : STORED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    parts.push(uint32(LOCAL), common, name, data);
    const madeBy = Buffer.from([20, UNIX]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((REGULAR | modeOf(content)) * 0x10000, 6);
    rest.writeUInt32LE(offset, 10);
    entries.push(uint32(CENTRAL), madeBy, common, rest, name);
    offset += 4 + common.length + name.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}

/** Scripts are executable. */
export const modeOf = (content: Uint8Array): number => (content[0] === 0x23 && content[1] === 0x21 ? 0o755 : 0o644);

/**
 * Reads an archive. Folders are left out. Links, devices, encryption and more than `maxBytes` or `maxFiles` are refused;
 * the announced sizes are not believed.
 */
export async function unpackZip(
  bytes: Buffer,
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
): Promise<ArchivedFile[]> {
  try {
    const files: ArchivedFile[] = [];
    let left = maxBytes;
    for (const entry of readEntries(bytes)) {
      if (entry.path.endsWith("/")) continue;
      if (files.length === maxFiles) throw refused(`it has more than ${maxFiles} files`);
      const content = await readContent(bytes, entry, left);
      left -= content.length;
      files.push({ path: entry.path, content });
    }
    return files;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
      throw refused(`it unpacks to more than ${Math.floor(maxBytes / 1_048_576)} MB`);
    }
    throw refused("it is damaged");
  }
}

interface Entry {
  path: string;
  method: number;
  crc: number;
  packed: number;
  offset: number;
}

function* readEntries(bytes: Buffer): Generator<Entry> {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff) throw refused("it is in the zip64 format");
  for (let index = 0; index < count; index += 1) {
    if (bytes.readUInt32LE(at) !== CENTRAL) throw refused("it is damaged");
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.subarray(at + 46, at + 46 + nameLength);
    const path = decode(name);
    const shown = JSON.stringify(path);
    const type = bytes[at + 5] === UNIX ? (bytes.readUInt32LE(at + 38) >>> 16) & FILE_TYPE : 0;
    if (type !== 0 && type !== REGULAR && type !== FOLDER) throw refused(`${shown} is a link or a special file`);
    if (bytes.readUInt16LE(at + 8) & ENCRYPTED) throw refused(`${shown} is encrypted`);
    const packed = bytes.readUInt32LE(at + 20);
    const offset = bytes.readUInt32LE(at + 42);
    if (packed === 0xffffffff || offset === 0xffffffff) throw refused("it is in the zip64 format");
    yield { path, method: bytes.readUInt16LE(at + 10), crc: bytes.readUInt32LE(at + 16), packed, offset };
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at -= 1) {
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at;
  }
  throw refused("it is damaged");
}

async function readContent(bytes: Buffer, entry: Entry, left: number): Promise<Buffer> {
  const { path, method, crc, packed, offset } = entry;
  if (bytes.readUInt32LE(offset) !== LOCAL) throw refused("it is damaged");
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  if (start + packed > bytes.length) throw refused("it is damaged");
  const data = bytes.subarray(start, start + packed);
  if (method !== STORED && method !== DEFLATED) {
    throw refused(`${JSON.stringify(path)} is packed in an unsupported way (method ${method})`);
  }
  // At least 1, the smallest limit that zlib accepts.
  const content = method === STORED ? Buffer.from(data) : await inflate(data, { maxOutputLength: Math.max(left, 1) });
  if (content.length > left) throw Object.assign(new RangeError("too large"), { code: "ERR_BUFFER_TOO_LARGE" });
  if (crc32(content) !== crc) throw refused(`${JSON.stringify(path)} is damaged`);
  return content;
}

function decode(name: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    throw refused("a file name is not UTF-8");
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const refused = (why: string): RequestError =>
  new RequestError("invalid_request", `files: the zip archive cannot be used: ${why}.`);
