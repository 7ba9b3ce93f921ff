import { type EmbeddingsConfig, LlmError, type SecretReference } from "@tandem/protocol";
import { type Clock, systemClock } from "../clock.ts";
import type { Embedder } from "./embedder.ts";

export interface EmbedderSurroundings {
  /** Asked only for the key of these embeddings. */
  readSecret: (reference: SecretReference) => Promise<string>;
  /** That relative paths are relative to. */
  folder: string;
  clock?: Clock;
}

/** What the config names; undefined where it names none. Never another one, nor none where one is named. */
export async function createEmbedder(
  config: EmbeddingsConfig,
  { readSecret, folder, clock = systemClock }: EmbedderSurroundings,
): Promise<Embedder | undefined> {
  switch (config.backend) {
    case "none":
      return undefined;
    case "openai": {
      const { model, baseUrl } = config;
      if (model === undefined) throw lacks("model", "the model's name at the endpoint");
      if (baseUrl === undefined) throw lacks("baseUrl", "the endpoint, such as http://127.0.0.1:11434/v1");
      const apiKey = config.apiKey && (await readSecret(config.apiKey));
      const { createOpenAiEmbedder } = await import("./openai-embedder.ts");
      return createOpenAiEmbedder({ model, baseUrl, apiKey }, clock);
    }
    case "onnx": {
      if (config.path === undefined) throw lacks("path", "a folder with model.onnx and tokenizer.json");
      const { createOnnxEmbedder } = await import("./onnx-embedder.ts");
      return createOnnxEmbedder(config.path, folder);
    }
  }
}

const lacks = (setting: string, what: string): LlmError =>
  new LlmError("not_configured", `The embeddings have no \`${setting}\`.`, {
    fix: `Set embeddings.${setting} in tandem.yaml to ${what}, or embeddings.backend to none.`,
  });
