import { createAnthropic } from "@ai-sdk/anthropic";
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
  const provider = createAnthropic({ apiKey, baseURL });
  return {
    name: "anthropic",
    payer: "anthropic_api_key",
    languageModel: (id) => provider.languageModel(id),
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
