import type { QueryWord } from "./analyse-query.ts";
import type { Indexed } from "./index-terms.ts";

// Messages between the main thread and the search thread.

interface TermsAnswer {
  facts: string;
  title: string;
  body: string;
}

export interface Questions {
  /** Computes the index terms of documents, in the engine's format. */
  terms: {
    ask: { engine: "sqlite" | "postgres"; space: number; documents: Indexed[] };
    answer: (TermsAnswer | string)[];
  };
  snippets: { ask: { space: number; words: QueryWord[]; texts: string[] }; answer: string[] };
  /** Adds vectors to a matrix, creating it if needed. */
  addVectors: { ask: { matrix: string; length: number; documents: Float64Array; vectors: Float32Array }; answer: null };
  keepVectors: { ask: { matrix: string; documents: Float64Array }; answer: null };
  dropMatrix: { ask: { matrix: string }; answer: null };
  /** Frees all matrices: the thread may serve another store next. */
  dropAll: { ask: null; answer: null };
  nearest: {
    ask: { matrix: string; vector: Float32Array; count: number; among: Float64Array | undefined };
    answer: { documents: number[] };
  };
}

export type QuestionName = keyof Questions;

export interface Request<N extends QuestionName = QuestionName> {
  id: number;
  name: N;
  ask: Questions[N]["ask"];
}

export type Reply = { id: number; ok: true; answer: unknown } | { id: number; ok: false; message: string };
