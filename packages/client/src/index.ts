export { ApiError } from "./api-error.ts";
export { answerCalls, type AnswerCallsOptions, type CallAnswer } from "./answer-calls.ts";
export { addressOf } from "./address-of.ts";
export {
  createClient,
  type CallInput,
  type Client,
  type ClientRequest,
  type ClientResponse,
  type ClientSettings,
} from "./create-client.ts";
export { followStream, type Connection, type FollowHooks } from "./follow-stream.ts";
export { readFrames, type Frame } from "@tandem/protocol";
export { createPageKey, createSignedFetch, type PageKey } from "./page-signer.ts";
