import { z } from "zod";
import { SOURCE_TYPES } from "@tandem/protocol";

/**
 * Increment when the same bytes would give other Markdown, chunks or suspicions; stored documents are then converted
 * again.
 */
export const FORM = 1;

/** Characters that triage sees of a document. */
export const EXCERPT = 2_048;

/** The last version of a document; kind `document`, by citation. */
export const documentRecord = z.strictObject({
  citation: z.string(),
  source: z.string(),
  type: z.enum([...SOURCE_TYPES, "text"]),
  connection: z.string().optional(),
  path: z.string(),
  /** Hash of the raw bytes, their key in the blob store. */
  sha256: z.string(),
  title: z.string(),
  signals: z.record(z.string(), z.string()),
  /** The beginning. */
  excerpt: z.string(),
  /** Total length. */
  characters: z.int(),
  /** Citations of its chunks, in order. */
  chunks: z.array(z.string()),
  /** Why it may be a prompt injection; null without signs. */
  suspicious: z.string().nullable(),
  form: z.int(),
});
export type DocumentRecord = z.output<typeof documentRecord>;

/** A citable passage; kind `chunk`, by citation. */
export const chunk = z.strictObject({
  citation: z.string(),
  source: z.string(),
  path: z.string(),
  /** Hash of the document's raw bytes: the version that was read. */
  sha256: z.string(),
  title: z.string(),
  headings: z.array(z.string()),
  content: z.string(),
  /** Hash of the content alone. */
  hash: z.string(),
});
export type Chunk = z.output<typeof chunk>;
