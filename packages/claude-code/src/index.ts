export { ClaudeCode } from "./calls/claude-code.ts";
export type { Credential } from "./credential.ts";
export type { CredentialPlace } from "./credentials/find-credentials.ts";
export {
  MANAGED_FOLDERS,
  reportCredentials,
  type CredentialPayer,
  type CredentialReport,
} from "./credentials/report-credentials.ts";
export { makeStandIn } from "./credentials/stand-in.ts";
export { findExecutable } from "./executable.ts";
export { accountOf } from "./account-of.ts";
export { checkVersion, type CheckedVersion } from "./check-version.ts";
export { probeLogin, type LoginProbe } from "./probe-login.ts";
export { Guardian } from "./processes/guardian.ts";
export { OwnedProcess } from "./processes/owned-process.ts";
export { processNamespace } from "./processes/process-namespace.ts";
export { ProcessLedger } from "./processes/process-ledger.ts";
export { defaultProcessLimit } from "./process-limit.ts";
export { ProcessSlots, type PoolLimit, type ProcessSlot } from "./process-slots.ts";
export { readCredential } from "./read-credential.ts";
export { inheritedVariables, isDenied, isReservedVariable, sandboxedVariables } from "./variables.ts";
export {
  connectServer,
  isUnauthorized,
  type McpConnection,
  type McpEndpoint,
  type McpTool,
  type McpToolReply,
} from "./mcp/connect-server.ts";
export type {
  AllowedCall,
  ConnectedServer,
  Confirmation,
  Conversation,
  ConversationHost,
  ConversationOutput,
  ConversationSandbox,
  ConversationSetup,
  Decision,
  HookAnswer,
  HostServer,
  HostTool,
  LateResult,
  ModelContent,
  SubagentDefinition,
  ToolCallRequest,
  TranscriptStore,
  TrustedSettings,
  TurnEnd,
  TurnOptions,
} from "./session/conversation.ts";
export { measureProcesses } from "./processes/measure-processes.ts";
export type { ToolDefinition } from "./tool-server.ts";
export { launchFingerprint } from "./session/launch-fingerprint.ts";
export { openConversation } from "./session/open-conversation.ts";
export type { LoggedAnswers } from "./session/transcript/unlogged-answers.ts";
export { cutTranscript } from "./session/transcript/cut-transcript.ts";
export { forgetConversation } from "./session/forget-conversation.ts";
export { callsIn, messageUuids } from "./session/transcript/transcript-line.ts";
export type { PastOutput } from "./history/past-translator.ts";
export { PrintInput, type PrintForm } from "./history/print-input.ts";
export { TranscriptReader } from "./history/transcript-reader.ts";
export { EventIds } from "./history/event-ids.ts";
export { PastFactsReader, readPastFacts, type PastFacts } from "./history/past-facts.ts";
export { findPastSessions, readPastSession, type PastSession } from "./history/past-sessions.ts";
export type { McpAuthorization } from "./mcp/authorize-fetch.ts";
export { createMcpFetch } from "./mcp/mcp-fetch.ts";
export { prepareLogin, type PreparedLogin } from "./mcp/prepare-login.ts";
export type { StdioEndpoint } from "./mcp/stdio-transport.ts";
