// Entry point of the search thread, for work that would block the event loop or a database thread.
import { parentPort } from "node:worker_threads";
import { indexTerms, toVector } from "./index-terms.ts";
import { snippetMaker } from "./snippet-maker.ts";
import type { QuestionName, Questions, Reply, Request } from "./search-messages.ts";
import { VectorMatrix } from "./vector-matrix.ts";

const port = parentPort!;
const matrices = new Map<string, VectorMatrix>();

const answers: { [N in QuestionName]: (ask: Questions[N]["ask"]) => Questions[N]["answer"] } = {
  terms: ({ engine, space, documents }) =>
    documents.map((document) => {
      const terms = indexTerms(space, document);
      if (engine === "postgres") return toVector(terms);
      return { facts: terms.facts.join(" "), title: terms.title.join(" "), body: terms.text.join(" ") };
    }),
  snippets: ({ space, words, texts }) => texts.map(snippetMaker(words, space)),
  addVectors: ({ matrix, length, documents, vectors }) => {
    const found = matrices.get(matrix) ?? new VectorMatrix(length);
    matrices.set(matrix, found);
    found.put(documents, vectors);
    return null;
  },
  keepVectors: ({ matrix, documents }) => {
    matrices.get(matrix)?.keep(documents);
    return null;
  },
  dropMatrix: ({ matrix }) => {
    matrices.delete(matrix);
    return null;
  },
  dropAll: () => {
    matrices.clear();
    return null;
  },
  nearest: ({ matrix, vector, count, among }) => {
    return { documents: matrices.get(matrix)?.nearest(vector, count, among) ?? [] };
  },
};

port.on("message", (request: Request) => port.postMessage(answer(request)));

function answer<N extends QuestionName>({ id, name, ask }: Request<N>): Reply {
  try {
    return { id, ok: true, answer: answers[name](ask) };
  } catch (error) {
    return { id, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
