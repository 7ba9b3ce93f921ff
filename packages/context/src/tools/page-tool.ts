import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import type { ContextFolder } from "../folder/context-folder.ts";
import { holdsFor, isExpired, type MemoryReader, parseMemory } from "../formats/memory-file.ts";
import type { SearchView } from "../search/context-search.ts";
import { type ContextTool, defineContextTool } from "../context-tool.ts";

export const pageTool = (folder: ContextFolder, search: SearchView, user?: string): ContextTool =>
  defineContextTool({
    name: "page_read",
    title: "Read a page",
    description:
      "Reads a wiki page, a memory or a passage of a document in full. Takes a key from `context_search`, such as `page:refund-policy`, `memory:mem_…` or `chunk:handbook/refunds#policy`. People have reviewed the pages: prefer them to your own guess. A footnote such as [^handbook/refunds#policy] names the passage that supports a statement; read it as chunk:handbook/refunds#policy.",
    input: z.object({ key: z.string().min(1).max(500) }),
    output: z.object({ key: z.string(), path: z.string(), text: z.string() }),
    readOnly: true,
    run: async ({ key }, { agent }) => {
      if (key.startsWith("chunk:")) return readPassage(search, key);
      const path = pathOf(key);
      const text = await folder.read(path);
      if (text === undefined || !isServed(path, text, { user, agent }, search.now())) {
        throw new RequestError("not_found", `There is no page ${key}.`, { fix: "Search the context for it." });
      }
      return { markdown: text, structured: { key, path, text } };
    },
  });

async function readPassage(search: SearchView, key: string) {
  const found = await search.passage(key.slice("chunk:".length));
  if (!found) {
    throw new RequestError("not_found", `There is no reviewed passage ${key}.`, { fix: "Search the context for it." });
  }
  const { passage, isReviewed } = found;
  const { source, path, title, headings, content } = passage;
  const label = isReviewed ? "" : "UNREVIEWED: no person has checked this passage.\n";
  const text = `${label}From ${source}: ${path}\n\n# ${[title, ...headings].join(" › ")}\n\n${content}`;
  return { markdown: text, structured: { key, path, text } };
}

/** Hides expired memories, those of other readers, and those in a program's store. */
function isServed(path: string, text: string, reader: MemoryReader, now: Date): boolean {
  const parsed = path.startsWith("memory/") ? parseMemory(text) : undefined;
  if (!parsed?.success) return true;
  const { memory } = parsed;
  return !isExpired(memory, now) && memory.store === undefined && holdsFor(memory, reader);
}

function pathOf(key: string): string {
  if (key.startsWith("memory:")) return `memory/${key.slice("memory:".length)}.md`;
  return `wiki/${key.replace(/^page:/, "").replace(/\.md$/, "")}.md`;
}
