import { fileURLToPath } from "node:url";
import { relative } from "node:path";
import { RequestError, type UserContent } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { z } from "zod";

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const promptParts = z.array(
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("file"), mime: z.string(), filename: z.string().optional(), url: z.string() }),
    z.object({ type: z.literal("agent"), name: z.string() }),
    z.object({ type: z.literal("subtask"), prompt: z.string() }),
  ]),
);
export type PromptPart = z.infer<typeof promptParts>[number];

/** The parts of a prompt as the content of a message. Files are read from the session's folder, on this machine. */
export async function promptContent(
  parts: readonly PromptPart[],
  { engine, session, folder }: { engine: Pick<Engine, "sessions">; session: string; folder: string },
): Promise<UserContent[]> {
  const content = await Promise.all(
    parts.map(async (part): Promise<UserContent> => {
      switch (part.type) {
        case "text":
          return { type: "text", text: part.text };
        case "agent":
          return { type: "text", text: `Use the subagent ${part.name} for this.` };
        case "subtask":
          throw new RequestError("not_supported", "parts: subtasks cannot be started by a client.", {
            fix: "Ask for a subagent in the text.",
          });
        case "file":
          return fileContent(part, { engine, session, folder });
      }
    }),
  );
  const filled = content.filter((block) => block.type !== "text" || block.text !== "");
  if (filled.length === 0) throw new RequestError("invalid_request", "parts: expected some text or a file.");
  return filled;
}

async function fileContent(
  { mime, filename, url }: Extract<PromptPart, { type: "file" }>,
  { engine, session, folder }: { engine: Pick<Engine, "sessions">; session: string; folder: string },
): Promise<UserContent> {
  const inline = /^data:([^;,]*)[^,]*?(;base64)?,(.*)$/s.exec(url);
  if (inline) {
    const [, type, base64, data = ""] = inline;
    const bytes = base64 ? Buffer.from(data, "base64") : Buffer.from(decodeURIComponent(data));
    return blockOf(bytes, type || mime, filename);
  }
  if (!url.startsWith("file:")) {
    throw new RequestError(
      "invalid_request",
      `parts: ${filename ?? "a file"} has neither a file: nor a data: address.`,
    );
  }
  const path = pathOf(url);
  const inside = relative(folder, path);
  if (mime === "application/x-directory") {
    const entries = await engine.sessions.folder.list(session, inside);
    const listing = entries.map(({ name, type }) => (type === "folder" ? `${name}/` : name)).join("\n");
    return textDocument(listing, path);
  }
  const file = await engine.sessions.folder.read(session, inside);
  if ("text" in file) return textDocument(file.text, filename ?? path);
  return blockOf(Buffer.from(file.base64, "base64"), mime, filename ?? path);
}

function pathOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return fileURLToPath(`${protocol}//${host}${pathname}`);
  } catch {
    throw new RequestError("invalid_request", `parts: ${JSON.stringify(url.slice(0, 200))} is not a file's address.`);
  }
}

function blockOf(bytes: Buffer, mime: string, title: string | undefined): UserContent {
  if (IMAGES.has(mime)) {
    return { type: "image", source: { type: "base64", media_type: mime, data: bytes.toString("base64") } };
  }
  if (mime === "application/pdf") {
    const source = { type: "base64" as const, media_type: mime, data: bytes.toString("base64") };
    return { type: "document", source, ...(title !== undefined && { title }) };
  }
  if (/^text\/|json|xml|javascript|typescript/.test(mime)) return textDocument(bytes.toString(), title);
  throw new RequestError("invalid_request", `parts: files of the type ${mime} cannot be sent to the model.`);
}

const textDocument = (data: string, title: string | undefined): UserContent => ({
  type: "document",
  source: { type: "text", media_type: "text/plain", data },
  ...(title !== undefined && { title }),
});
