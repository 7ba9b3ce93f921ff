import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import { cancellation } from "../approvals/outcome.ts";
import { closing } from "../log/open-turn.ts";
import type { InterruptedTurn } from "./read-interrupted-turn.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";

/** Takes over what a former writer spent and asked, and closes what it had under way. */
export async function closeInterruptedTurn(
  legacy: InterruptedTurn,
  { settings, writer, ledger }: Pick<TurnDependencies, "settings" | "writer" | "ledger">,
  inquiries: ApprovalRequests,
): Promise<void> {
  // A Claude Code that a dead server has left on this machine must be gone before there is another.
  await settings.sweep();
  for (const { thread, end } of legacy.uncounted) ledger.carry(thread, end);
  inquiries.inherit(legacy);
  const words = `The process ${legacy.isHandedOver ? "was stopped" : "died"} while this call was running. What it did is not known.`;
  const closings = legacy.running.map((call) => closing(call, "crash", words));
  await writer.place([...closings, ...legacy.cancelled.flatMap(cancellation)]);
}
