import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Payer } from "@tandem/protocol";
import type { ModelInfo } from "../../llm-backend.ts";

/** A service reached through the AI SDK. All serve Claude; they differ in address, login and model names. */
export interface Provider {
  readonly name: "anthropic" | "vertex" | "gateway";
  readonly payer: Payer;
  languageModel(id: string): LanguageModelV4 | Promise<LanguageModelV4>;
  listModels(signal: AbortSignal): Promise<ModelInfo[]>;
}

/** Anthropic's convention omits the version from base URLs; both forms are accepted. */
export function withVersion(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  return trimmed.endsWith("/v1") ? trimmed : `${trimmed}/v1`;
}
