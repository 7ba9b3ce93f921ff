export type { Emulator, EmulatorClock } from "./emulator.ts";
export { startEmulator, type EmulatorOptions } from "./start-emulator.ts";
export type { ToolOutcome, ToolScript } from "./tool-script.ts";
export { Faults, type Fault, type FaultTarget, type WebhookFault } from "./faults.ts";
export { WebhookInbox, type ReceivedWebhook } from "./webhook-inbox.ts";
export { emulatorFixture, useEmulator } from "./fixtures.ts";
