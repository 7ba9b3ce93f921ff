import { z } from "zod";
import { SOURCE_TYPES } from "@tandem/protocol";

/** Raised when the same bytes would make other Markdown, chunks or suspicions: what is kept is made anew then. */
export const FORM = 1;

/** What triage gets to see of a document, in characters. */
export const EXCERPT = 2_048;

/** A document as it was read last; kind `document`, by its citation. */
export const documentRecord = z.strictObject({
  citation: z.string(),
  source: z.string(),
  type: z.enum([...SOURCE_TYPES, "text"]),
  connection: z.string().optional(),
  path: z.string(),
  /** Of the raw bytes, under which they are kept. */
  sha256: z.string(),
  title: z.string(),
  signals: z.record(z.string(), z.string()),
  /** How it begins. */
  excerpt: z.string(),
  /** Of the whole of it. */
  characters: z.int(),
  /** Citations of its chunks, in order. */
  chunks: z.array(z.string()),
  /** Why it may be an attempt to instruct a model; null if nothing points to it. */
  suspicious: z.string().nullable(),
  form: z.int(),
});
export type DocumentRecord = z.output<typeof documentRecord>;

/** A passage that can be cited; kind `chunk`, by its citation. */
export const chunk = z.strictObject({
  citation: z.string(),
  source: z.string(),
  path: z.string(),
  /** Of the document's raw bytes: the version that was read. */
  sha256: z.string(),
  title: z.string(),
  headings: z.array(z.string()),
  content: z.string(),
  /** Of the content alone. */
  hash: z.string(),
});
export type Chunk = z.output<typeof chunk>;
