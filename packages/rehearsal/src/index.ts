export {
  badRequest,
  creditTooLow,
  cutConnection,
  fail,
  failMidStream,
  forbidden,
  malformedStream,
  modelNotFound,
  overloaded,
  planLimit,
  promptTooLong,
  rateLimited,
  serverError,
  stallBeforeFirstByte,
  stallMidStream,
  unauthorized,
} from "./fault.ts";
export type {
  DialectName,
  ModelRequest,
  OfferedTool,
  ReceivedRequest,
  RequestMessage,
  ToolResult,
} from "./received-request.ts";
export { listenOnLoopback } from "./listen-on-loopback.ts";
export { loadScript } from "./load-script.ts";
export { parseScript } from "./parse-script.ts";
export type { RefreshOutcome, SubscriptionType } from "./server/login-routes.ts";
export type { MadeUpLogin } from "./made-up-login.ts";
export { madeUpLogin } from "./made-up-login.ts";
export type { ProxyAccess } from "./server/loopback-server.ts";
export type { RefusedHost } from "./server/proxy-entrance.ts";
export type { RecordedMismatch, RecordingCheck } from "./recording/check-recording.ts";
export { checkRecording } from "./recording/check-recording.ts";
export type { Recording, RecordingOptions } from "./recording/recording.ts";
export { startRecording } from "./recording/recording.ts";
export { RehearsalError } from "./rehearsal-error.ts";
export type { Rehearsal, RehearsalOptions } from "./rehearsal.ts";
export { startRehearsal } from "./rehearsal.ts";
export type { MessageReply, Pace, Reply, ReplyOptions, ReplyUsage, StopReason } from "./reply.ts";
export { raw, redactedThinking, refusal, reply, slowly, text, thinking, toolUse } from "./reply.ts";
export { replayScript } from "./recording/replay-script.ts";
export type { Rule, Script, ScriptEntry } from "./script.ts";
export { always, object, times, when } from "./script.ts";
export type { RehearsedModel } from "./server/side-routes.ts";
export type { TypedValue, TypeMismatch, TypeSource } from "./type-mismatches.ts";
export { typeMismatches } from "./type-mismatches.ts";
export { OAuthMcpServer } from "./oauth-mcp-server.ts";
