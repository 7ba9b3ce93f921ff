import type { ModelContent } from "@tandem/claude-code";
import { RequestError, type FileId, type UserContent } from "@tandem/protocol";
import type { FileStore } from "@tandem/storage";

/** A message's content for the model, with uploaded files inlined. */
export async function readContent(content: readonly UserContent[], files: FileStore): Promise<ModelContent[]> {
  return Promise.all(
    content.map(async (block): Promise<ModelContent> => {
      if (block.type === "text" || block.source.type !== "file") return block;
      const id = block.source.file_id;
      const [metadata, bytes] = await Promise.all([files.get(id), files.content(id as FileId)]);
      if (!metadata || !bytes) throw new RequestError("not_found", `There is no file ${id}.`);
      const source =
        metadata.mime_type === "text/plain" && block.type === "document"
          ? { type: "text" as const, media_type: "text/plain" as const, data: Buffer.from(bytes).toString("utf8") }
          : { type: "base64" as const, media_type: metadata.mime_type, data: Buffer.from(bytes).toString("base64") };
      return { ...block, source } as ModelContent;
    }),
  );
}
