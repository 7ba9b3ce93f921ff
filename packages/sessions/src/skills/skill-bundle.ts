import { posix } from "node:path";
import { RequestError } from "@tandem/protocol";
import { parseFrontMatter } from "@tandem/workspace";
import { isZip, unpackZip, type ArchivedFile } from "./zip-archive.ts";

const MAX_SKILL_BYTES = 30 * 1_048_576;
const MAX_SKILL_FILES = 2_000;
const MAX_PATH_BYTES = 500;
const MAX_SEGMENT_BYTES = 255;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
export const SKILL_FILE = "SKILL.md";

/** An uploaded file: its name is its path, with the skill's folder. */
export interface SkillUpload {
  filename: string;
  content: Uint8Array;
}

/** The validated contents of a skill version. */
export interface SkillBundle {
  name: string;
  description: string;
  /** Sorted, with paths inside the skill's folder. */
  files: ArchivedFile[];
}

/** Validates uploaded files, or one zip archive of them: one folder with a SKILL.md at its root. */
export async function readBundle(uploads: readonly SkillUpload[]): Promise<SkillBundle> {
  const files = await uploadedFiles(uploads);
  const folders = new Set(files.map(({ path }) => path.slice(0, path.indexOf("/") + 1)));
  const [folder = ""] = folders;
  if (folders.size !== 1 || folder === "") {
    throw invalid("all files must be in one folder, such as my-skill/SKILL.md", "Put the files into one folder.");
  }
  const inside = files.map(({ path, content }) => ({ path: path.slice(folder.length), content }));
  inside.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  checkCollisions(inside);
  const main = inside.find(({ path }) => path === SKILL_FILE);
  if (!main) {
    const similar = inside.find(({ path }) => path.toLowerCase() === SKILL_FILE.toLowerCase());
    throw similar
      ? invalid(`${folder}${similar.path} must be named ${SKILL_FILE}`)
      : invalid(
          `${folder}${SKILL_FILE} is missing`,
          "Add a SKILL.md with a name and a description in its front matter.",
        );
  }
  return { ...readHead(main.content, folder.slice(0, -1)), files: inside };
}

/** Unpacks a stored version: the archive has one folder, named like the skill. */
export async function unpackBundle(archive: Uint8Array): Promise<ArchivedFile[]> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files = await unpackZip(bytes, { maxBytes: MAX_SKILL_BYTES, maxFiles: MAX_SKILL_FILES });
  return files.map(({ path, content }) => ({ path: path.slice(path.indexOf("/") + 1), content }));
}

async function uploadedFiles(uploads: readonly SkillUpload[]): Promise<ArchivedFile[]> {
  if (uploads.length === 0) throw invalid("expected the files of a skill, or one zip archive");
  const plain = uploads.map(({ filename, content }) => ({
    path: filename,
    content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  }));
  const [first] = plain;
  const isArchive = plain.length === 1 && isZip(first!.content);
  const files = isArchive
    ? await unpackZip(first!.content, { maxBytes: MAX_SKILL_BYTES, maxFiles: MAX_SKILL_FILES })
    : plain;
  const wanted = files.filter(({ path }) => !isLeftover(path));
  if (wanted.length > MAX_SKILL_FILES) throw invalid(`a skill has at most ${MAX_SKILL_FILES} files`);
  for (const { path } of wanted) checkPath(path);
  const bytes = wanted.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > MAX_SKILL_BYTES) {
    throw new RequestError("too_large", "files: a skill has at most 30 MB.", { fix: "Leave out large files." });
  }
  return wanted;
}

/** Files that macOS adds to archives and folders. */
const isLeftover = (path: string): boolean => path.startsWith("__MACOSX/") || posix.basename(path) === ".DS_Store";

/** Refuses every path that could leave the skill's folder, or that some file system cannot store. */
function checkPath(path: string): void {
  const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
  if (path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:/.test(path)) {
    throw invalid(`${shown} is an absolute path`, "Name each file by its path from the skill's folder's parent.");
  }
  if (/[\\\p{C}]/u.test(path) || !path.isWellFormed()) {
    throw invalid(`${shown} has a backslash or an invisible character in its name`);
  }
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalid(`${shown} is longer than ${MAX_PATH_BYTES} bytes`);
  for (const segment of path.split("/")) {
    if (segment === "" || segment === "." || segment === "..") throw invalid(`${shown} is not a plain path`);
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
      throw invalid(`${shown} has a name of more than ${MAX_SEGMENT_BYTES} bytes`);
    }
  }
}

/** Two paths that some file system stores as one: equal but for case or Unicode form, or a file named like a folder. */
function checkCollisions(files: readonly ArchivedFile[]): void {
  const fold = (path: string): string => path.normalize("NFC").toLowerCase().normalize("NFC");
  const known = new Map<string, string>();
  for (const { path } of files) {
    const other = known.get(fold(path));
    if (other === path) throw invalid(`${JSON.stringify(path)} is there twice`);
    if (other !== undefined) {
      throw invalid(`${JSON.stringify(other)} and ${JSON.stringify(path)} are one file on some systems`);
    }
    known.set(fold(path), path);
  }
  for (const { path } of files) {
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      const file = known.get(fold(path.slice(0, at)));
      if (file !== undefined) throw invalid(`${JSON.stringify(file)} is both a file and a folder`);
    }
  }
}

function readHead(content: Buffer, folder: string): Pick<SkillBundle, "name" | "description"> {
  const head = parseHead(content);
  const name = head["name"] ?? folder;
  if (typeof name !== "string" || name.length > MAX_NAME || !/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    const where = head["name"] === undefined ? "the folder's name" : "name";
    throw invalid(`${SKILL_FILE}: ${where}: expected at most ${MAX_NAME} lower case letters, digits and hyphens`);
  }
  if (/anthropic|claude/.test(name)) throw invalid(`${SKILL_FILE}: name: "anthropic" and "claude" are reserved`);
  const { description } = head;
  if (typeof description !== "string" || description.trim() === "") {
    throw invalid(`${SKILL_FILE}: description: is missing`, "Say in the front matter when the skill should be used.");
  }
  if (description.length > MAX_DESCRIPTION) {
    throw invalid(`${SKILL_FILE}: description: longer than ${MAX_DESCRIPTION} characters`);
  }
  if (/<[^>]*>/.test(description)) throw invalid(`${SKILL_FILE}: description: XML tags are not allowed`);
  return { name, description: description.trim() };
}

function parseHead(content: Buffer): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw invalid(`${SKILL_FILE} is not UTF-8`);
  }
  try {
    return parseFrontMatter(text).head;
  } catch {
    throw invalid(`${SKILL_FILE}: the front matter is not valid YAML`);
  }
}

const invalid = (message: string, fix?: string): RequestError =>
  new RequestError("invalid_request", `files: ${message}.`, fix === undefined ? {} : { fix });
