import { type EmbeddingsConfig, LlmError, type SecretReference } from "@tandem/protocol";
import { type GovernorClock, governorClock } from "../governor-clock.ts";
import type { Embedder } from "./embedder.ts";

export interface EmbedderEnvironment {
  /** Called only for the key of the configured embeddings. */
  readSecret: (reference: SecretReference) => Promise<string>;
  /** Base of relative paths. */
  folder: string;
  clock?: GovernorClock;
}

/** Creates the configured embedder; undefined if none is configured. Never falls back. */
export async function createEmbedder(
  config: EmbeddingsConfig,
  { readSecret, folder, clock = governorClock }: EmbedderEnvironment,
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
