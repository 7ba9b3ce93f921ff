import { Faults, type Fault, type FaultTarget } from "@tandem/emulator/network";
import type { SeededRandom } from "../seeded-random.ts";
import type { NetworkFault } from "./fault-kinds.ts";

const HOLD_MS = 2_000;

/** Faults of the network that tell when a request has met them. */
export class MetFaults extends Faults {
  /** Called when a request meets a fault. */
  onMeet: (path: string) => void = () => undefined;

  override takeForRequest(method: string, path: string): Fault | undefined {
    const fault = super.takeForRequest(method, path);
    if (fault) this.onMeet(path);
    return fault;
  }
}

/** A fault of this kind, with the requests that it meets. */
export function networkFault(kind: NetworkFault, random: SeededRandom): { fault: Fault; target: FaultTarget } {
  // Sends matter most: they are what a server acknowledges.
  const target = random.next() < 0.7 ? { method: "POST", path: "/events" } : { path: "/v1/" };
  switch (kind) {
    case "cut-stream":
      return { fault: { type: "cut_stream", afterEvents: random.between(0, 4) }, target: { path: "/events/stream" } };
    case "lost-answer":
      return { fault: { type: "lost_answer" }, target };
    case "lost-request":
      return { fault: { type: "lost_request" }, target };
    case "slow":
      return { fault: { type: "slow", ms: random.between(100, HOLD_MS) }, target };
    case "half-open":
      return { fault: { type: "half_open", ms: random.between(100, HOLD_MS) }, target };
  }
}
