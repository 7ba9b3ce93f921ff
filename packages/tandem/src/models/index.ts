export { checkAuth, type AuthCheck, withoutModels } from "./check-auth.ts";
export { lookAtClaudeCode, type ClaudeBinary } from "./claude-binary.ts";
export { complete, knownModels, type KnownModels } from "./known-models.ts";
