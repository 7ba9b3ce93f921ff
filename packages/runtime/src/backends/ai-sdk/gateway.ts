import { createGateway } from "@ai-sdk/gateway";
import type { Provider } from "./provider.ts";

export interface GatewaySettings {
  apiKey: string;
  baseUrl: string | undefined;
}

export function gateway({ apiKey, baseUrl }: GatewaySettings): Provider {
  const provider = createGateway({ apiKey, ...(baseUrl !== undefined && { baseURL: baseUrl }) });
  return {
    name: "gateway",
    payer: "gateway_key",
    languageModel: (id) => provider.languageModel(id),
    async listModels() {
      const { models } = await provider.getAvailableModels();
      return models
        .filter((model) => (model.modelType ?? "language") === "language")
        .map(({ id, name }) => ({ id, name }));
    },
  };
}
