import { RequestError, type UserContent } from "@tandem/protocol";
import { fileURLToPath } from "node:url";

/** A content block of a prompt. */
export type PromptBlock =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio" }
  | { type: "resource_link"; uri: string; name: string; title?: string | null; description?: string | null }
  | { type: "resource"; resource: { uri: string; mimeType?: string | null } & ({ text: string } | { blob: string }) };

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Converts a prompt to the content of a session message. */
export function messageContent(prompt: readonly PromptBlock[]): UserContent[] {
  if (prompt.length === 0) throw refused("expected at least one content block");
  return prompt.map((block) => {
    switch (block.type) {
      case "text":
        return { type: "text", text: block.text };
      case "image":
        return image(block.data, block.mimeType);
      case "audio":
        throw refused("audio is not supported");
      case "resource_link": {
        const { uri, name, title, description } = block;
        return { type: "text", text: `[${title ?? name}](${placeOf(uri)})${description ? `: ${description}` : ""}` };
      }
      case "resource":
        return embedded(block.resource);
    }
  });
}

function embedded(resource: Extract<PromptBlock, { type: "resource" }>["resource"]): UserContent {
  const { uri, mimeType } = resource;
  const title = placeOf(uri);
  if ("text" in resource) {
    return { type: "document", source: { type: "text", media_type: "text/plain", data: resource.text }, title };
  }
  if (mimeType && IMAGES.has(mimeType)) return image(resource.blob, mimeType);
  if (mimeType === "application/pdf") {
    return { type: "document", source: { type: "base64", media_type: mimeType, data: resource.blob }, title };
  }
  throw refused(`the resource ${uri} is neither text, an image nor a PDF`);
}

function image(data: string, mimeType: string): UserContent {
  if (!IMAGES.has(mimeType)) throw refused(`images of the type ${mimeType} are not supported`);
  return { type: "image", source: { type: "base64", media_type: mimeType, data } };
}

/** Converts a file URI to a path, because the model's tools take paths. */
function placeOf(uri: string): string {
  try {
    const url = new URL(uri);
    return url.protocol === "file:" ? fileURLToPath(url) + url.hash : uri;
  } catch {
    return uri;
  }
}

const refused = (words: string): RequestError => new RequestError("invalid_request", `prompt: ${words}.`);
