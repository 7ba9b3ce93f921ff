export { createBackend, type BackendEnvironment } from "./create-backend.ts";
export { createRuntime, type RuntimeOptions } from "./create-runtime.ts";
export type { SharedQuotas } from "./governor.ts";
export { createEmbedder } from "./embeddings/create-embedder.ts";
export type { Embedder } from "./embeddings/embedder.ts";
export { createMessagesProxy } from "./messages/create-messages-proxy.ts";
export { ignoredSettings, type IgnoredSetting } from "./ignored-settings.ts";
export type { LlmBackend, ModelInfo } from "./llm-backend.ts";
export type {
  CallRequest,
  LlmRuntime,
  LoopRequest,
  LoopResult,
  ObjectRequest,
  StepFinished,
  TextRequest,
  Wait,
} from "./llm-runtime.ts";
export { checkModel, findModel, mergeModels, resolveModel, roleModels, type RoleModel } from "./models.ts";
export { defineTool, type Tool, type ToolOutput } from "./tool.ts";
