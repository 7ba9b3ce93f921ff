import { LlmError } from "@tandem/protocol";
import type { LlmBackend } from "../llm-backend.ts";

/** What stands behind a runtime where nothing is configured: everything else works, LLM features say what they lack. */
export function createNoneBackend(): LlmBackend {
  const lacking = async (): Promise<never> => {
    throw new LlmError("not_configured", "This needs a language model, and no LLM backend is configured.");
  };
  return {
    name: "none",
    payer: "nobody",
    text: lacking,
    object: lacking,
    loop: lacking,
    listModels: lacking,
    close: async () => undefined,
  };
}
