export type { Emulator, EmulatorClock } from "./emulator.ts";
export { startEmulator, type EmulatorOptions } from "./start-emulator.ts";
export type { ToolOutcome, ToolScript } from "./tool-script.ts";
export { Faults, type Fault, type FaultTarget, type WebhookFault } from "./faults.ts";
export { WebhookInbox, type ReceivedWebhook } from "./webhook-inbox.ts";
export { emulatorFixture, useEmulator } from "./emulator-fixture.ts";
export { replayCassette, type Replay, type ReplayOptions } from "./cassettes/replay-cassette.ts";
export { forkCassette, type ForkChange, type ForkOptions } from "./cassettes/fork-cassette.ts";
export { whyNotReplayed } from "./cassettes/why-not-replayed.ts";
export {
  formatCassette,
  parseCassette,
  type Cassette,
  type CassetteStep,
  type ShownDivergence,
} from "@tandem/protocol";
