import { errorFromResponse } from "./as-llm-error.ts";
import { readModelList } from "./model-list.ts";
import { type Provider, withVersion } from "./provider.ts";

export interface AnthropicSettings {
  apiKey: string;
  baseUrl: string | undefined;
}

export function anthropic({ apiKey, baseUrl = "https://api.anthropic.com" }: AnthropicSettings): Provider {
  // Always explicit; otherwise the AI SDK would read a base URL from a stray variable.
  const baseURL = withVersion(baseUrl);
  return {
    name: "anthropic",
    payer: "anthropic_api_key",
    // Imported for the first call: `tandem status` only lists models.
    languageModel: async (id) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL }).languageModel(id);
    },
    async listModels(signal) {
      const response = await fetch(`${baseURL}/models?limit=1000`, {
        headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
        signal,
      });
      if (!response.ok) throw errorFromResponse(response, await response.text());
      return readModelList(await response.json());
    },
  };
}
