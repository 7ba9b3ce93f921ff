import { readDocument } from "../../sources/read-document.ts";
import type { SourceType } from "../../sources/source.ts";
import { chunkDocument, type ChunkText } from "./chunk-document.ts";
import { EXCERPT } from "./document-record.ts";
import { suspicionOf, suspicionOfName } from "../../untrusted/suspicion.ts";

export interface Conversion {
  citation: string;
  type: SourceType;
  path: string;
  title?: string;
  bytes: Uint8Array;
}

export interface Converted {
  title: string;
  signals: Readonly<Record<string, string>>;
  excerpt: string;
  characters: number;
  chunks: ChunkText[];
  suspicious: string | null;
}

/** Converts bytes to passages. Pure, and sometimes slow, so it runs in a thread. */
export async function convertDocument({ citation, type, path, title, bytes }: Conversion): Promise<Converted> {
  const document = await readDocument({ type, path, title }, bytes);
  return {
    title: document.title,
    signals: document.signals,
    excerpt: document.markdown.slice(0, EXCERPT).toWellFormed(),
    characters: document.markdown.length,
    chunks: chunkDocument(citation, document.markdown),
    // Models read file names too.
    suspicious: suspicionOf(`${document.title}\n${document.markdown}`) ?? suspicionOfName(path),
  };
}
