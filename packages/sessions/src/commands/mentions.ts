import type { ModelContent } from "@tandem/claude-code";
import { listFolder, readInside } from "@tandem/workspace";
import { fenced } from "./expand-command.ts";
import { parseTemplate } from "./template.ts";

const MAX_TEXT = 200 * 1_024;
const MAX_IMAGE = 4 * 1_024 * 1_024;
const MAX_FILES = 20;
const IMAGES: Readonly<Record<string, "image/png" | "image/jpeg" | "image/gif" | "image/webp">> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** Resolves `@path` in a person's text to files and folders of the session's folder. Other words stay text. */
export async function mentioned(text: string, folder: string): Promise<ModelContent[]> {
  const paths = new Set(
    parseTemplate(text).flatMap((piece) =>
      piece.type === "file" && piece.path.every(({ type }) => type === "text")
        ? [piece.path.map((part) => (part.type === "text" ? part.text : "")).join("")]
        : [],
    ),
  );
  const blocks: ModelContent[] = [];
  for (const path of [...paths].slice(0, MAX_FILES)) {
    const block = (await fileBlock(folder, path)) ?? (await folderBlock(folder, path));
    if (block) blocks.push(block);
  }
  return blocks;
}

async function fileBlock(folder: string, path: string): Promise<ModelContent | undefined> {
  const image = IMAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
  const content = await readInside(folder, path, { maxBytes: image ? MAX_IMAGE : MAX_TEXT }).catch(() => undefined);
  if (!content) return undefined;
  if ("text" in content) {
    return {
      type: "text",
      text: fenced(path, content.text) + (content.truncated ? "(The file is longer than this.)" : ""),
    };
  }
  if (image && !content.truncated) {
    return { type: "image", source: { type: "base64", media_type: image, data: content.base64 } };
  }
  return { type: "text", text: `${path}: a file of ${content.size} bytes that is no text.` };
}

async function folderBlock(folder: string, path: string): Promise<ModelContent | undefined> {
  const entries = await listFolder(folder, path).catch(() => undefined);
  if (!entries) return undefined;
  const names = entries.slice(0, 500).map(({ name, type }) => (type === "folder" ? `${name}/` : name));
  return { type: "text", text: fenced(`${path} (a folder)`, names.join("\n")) };
}
