import type { FileProblem } from "../formats/file-problem.ts";
import type { PageFile } from "./page-file.ts";

export interface Citation {
  citation: string;
  /** Line in the file, from 1. */
  line: number;
}

/** Footnote references in Markdown, except in code. `bodyLine` is the body's first line in its file. */
export function citationsIn(body: string, bodyLine = 1): Citation[] {
  const found: Citation[] = [];
  let fence: string | undefined;
  body.split("\n").forEach((line, index) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return;
    }
    if (fence !== undefined) return;
    for (const [, citation] of line.replaceAll(/(`+)[^`].*?\1/g, "").matchAll(/\[\^([^\]\s]+)\]/g)) {
      found.push({ citation: citation!, line: bodyLine + index });
    }
  });
  return found;
}

/** Existing targets of references. */
export interface Known {
  page(key: string): boolean;
  /** By `connection/schema.table`. */
  table(name: string): boolean;
  citation(key: string): boolean;
}

/** Dead references and unknown citations. */
export function checkPage(page: PageFile, bodyLine: number, known: Known): FileProblem[] {
  const refs = page.refs.flatMap((ref): FileProblem[] => {
    const [, kind, name = ""] = /^(page|table):(.+)$/s.exec(ref) ?? [];
    if (kind === undefined) {
      const message = `The ref ${JSON.stringify(ref)} is neither page:KEY nor table:CONNECTION/SCHEMA.TABLE.`;
      return [{ type: "unknown_ref", line: undefined, message }];
    }
    if (kind === "page" ? known.page(name) : known.table(name)) return [];
    return [{ type: "unknown_ref", line: undefined, message: `There is no ${kind} ${name}, to which a ref leads.` }];
  });
  const listed = new Set(page.sources.map(({ citation }) => citation));
  const seen = new Set<string>();
  const citations = citationsIn(page.body, bodyLine).flatMap(({ citation, line }): FileProblem[] => {
    if (seen.has(citation)) return [];
    seen.add(citation);
    if (!listed.has(citation)) {
      return [{ type: "unknown_citation", line, message: `[^${citation}] is not among the page's sources.` }];
    }
    if (!known.citation(citation)) {
      return [{ type: "unknown_citation", line, message: `There is no passage ${citation} in any source.` }];
    }
    return [];
  });
  return [...refs, ...citations];
}
