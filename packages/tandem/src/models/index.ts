export { checkAuth, type AuthCheck, isPresent, withoutModels } from "./check-auth.ts";
export { checkClaudeCode, type ClaudeBinary } from "../project/find-claude-code.ts";
export { keepModels } from "./engine-models.ts";
export { complete, knownModels, type KnownModels } from "./known-models.ts";
