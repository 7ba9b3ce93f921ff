import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Payer } from "@tandem/protocol";
import type { ModelInfo } from "../../llm-backend.ts";

/** One of the services that the AI SDK reaches. All of them serve Claude and differ in address, login and names. */
export interface Provider {
  readonly name: "anthropic" | "vertex" | "gateway";
  readonly payer: Payer;
  languageModel(id: string): LanguageModelV4;
  listModels(signal: AbortSignal): Promise<ModelInfo[]>;
}

/** Anthropic's convention for base URLs leaves the version out; with it is taken, too. */
export function withVersion(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  return trimmed.endsWith("/v1") ? trimmed : `${trimmed}/v1`;
}
