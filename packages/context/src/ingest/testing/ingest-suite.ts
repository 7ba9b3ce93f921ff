import type { ModelRequest, ScriptEntry } from "@tandem/rehearsal";
import { MemoryRun } from "../../scan/testing/memory-run.ts";
import { sharedBackend } from "../../scan/testing/shared-backend.ts";
import { sharedStore } from "../../testing/shared-store.ts";
import { giveLanes } from "../extract/testing/extract-answers.ts";
import { agent, isReconciler } from "./agent-requests.ts";
import { openTestIngest } from "./open-test-ingest.ts";

export const allFull = giveLanes(() => ({ lane: "full" }));
export const quietReconciler = agent(isReconciler);

/** One model and one store for all tests of a file. */
export async function ingestSuite() {
  const backend = await sharedBackend();
  const store = sharedStore();
  return {
    backend,
    openIngest: (documents: Readonly<Record<string, string>>, options: { accept?: object } = {}) =>
      openTestIngest(documents, { ...options, store: store() }),
    asked: (which: (request: ModelRequest) => boolean) => backend.rehearsal.modelRequests.filter(which),
    start: (script: readonly ScriptEntry[], steps = new Map<string, unknown>()) =>
      new MemoryRun(backend.play(script), { steps }),
  };
}
