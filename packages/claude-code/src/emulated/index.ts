/** Conversations without a process, for tests of programs that use sessions. */
export { emulatedConversations, type EmulatedParts } from "./emulated-conversation.ts";
export type { OwnSteps } from "./own-steps.ts";
export type { DescribeDenial, RunBuiltinTool } from "./tool-runner.ts";
