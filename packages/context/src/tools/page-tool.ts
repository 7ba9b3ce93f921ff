import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { ContextFolder } from "../folder/context-folder.ts";
import { holdsFor, isExpired, type MemoryReader, parseMemory } from "../memory/memory-file.ts";
import type { ContextTool } from "./context-tool.ts";
import { defineContextTool } from "./define-context-tool.ts";

export const pageTool = (folder: ContextFolder, user?: string): ContextTool =>
  defineContextTool({
    name: "page_read",
    title: "Read a page",
    description:
      "Reads a wiki page or a memory in full, with the sources it rests on. Takes a key from `context_search`, such as `page:refund-policy` or `memory:mem_…`. What a page says was reviewed by people; it goes before what you would guess. Footnotes such as [^handbook/refunds#policy] name the passage that a statement rests on.",
    input: z.object({ key: z.string().min(1).max(500) }),
    output: z.object({ key: z.string(), path: z.string(), text: z.string() }),
    readOnly: true,
    run: async ({ key }, { agent }) => {
      const path = pathOf(key);
      const text = await folder.read(path);
      if (text === undefined || !isServed(path, text, { user, agent })) {
        throw new RequestError("not_found", `There is no page ${key}.`, { fix: "Look for it with context_search." });
      }
      return { markdown: text, structured: { key, path, text } };
    },
  });

/** Hides expired memories, those of other readers, and those in a program's store. */
function isServed(path: string, text: string, reader: MemoryReader): boolean {
  const parsed = path.startsWith("memory/") ? parseMemory(text) : undefined;
  if (!parsed?.success) return true;
  const { memory } = parsed;
  return !isExpired(memory, new Date()) && memory.store === undefined && holdsFor(memory, reader);
}

function pathOf(key: string): string {
  if (key.startsWith("memory:")) return `memory/${key.slice("memory:".length)}.md`;
  return `wiki/${key.replace(/^page:/, "").replace(/\.md$/, "")}.md`;
}
