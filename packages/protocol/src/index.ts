export type { CallReport, Cost, Payer } from "./call-report.ts";
export {
  BACKENDS,
  CLAUDE_CODE_AUTHS,
  NEEDS_TRUST,
  ROLES,
  SECRET_FORMAT,
  configSchema,
  defaultConfig,
  type Backend,
  type ClaudeCodeAuth,
  type Config,
  type LlmConfig,
  type Role,
  type SecretReference,
} from "./config.ts";
export { duration, DURATION_FORMAT, formatDuration } from "./duration.ts";
export { LlmError, type LlmErrorCode } from "./llm-error.ts";
export { nearest } from "./nearest.ts";
export { TandemError } from "./tandem-error.ts";
export { addUsage, noUsage, type Usage } from "./usage.ts";
