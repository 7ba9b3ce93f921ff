import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import { cancellation } from "../approvals/outcome.ts";
import { closing, isWorkerCall } from "../log/open-turn.ts";
import type { InterruptedTurn } from "./read-interrupted-turn.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";

/** Takes over the usage and the requests of a former writer, and closes the calls that it had running. */
export async function closeInterruptedTurn(
  interrupted: InterruptedTurn,
  { settings, writer, ledger }: Pick<TurnDependencies, "settings" | "writer" | "ledger">,
  requests: ApprovalRequests,
): Promise<void> {
  // An orphaned Claude Code process on this machine must end before another one starts.
  await settings.sweep();
  for (const { thread, end } of interrupted.uncounted) ledger.carry(thread, end);
  requests.inherit(interrupted);
  const words = `The process ${interrupted.isHandedOver ? "was stopped" : "died"} while this call was running. Its effect is unknown.`;
  const closings = interrupted.running.map((call) => closing(call, "crash", words));
  const unrun = interrupted.cancelled.map((call) =>
    closing(call, "crash", isWorkerCall(call) ? words : "The process died before this call ran."),
  );
  await writer.place([...closings, ...unrun, ...interrupted.cancelled.flatMap(cancellation)]);
  requests.askOutcomes(interrupted.unknown);
}
