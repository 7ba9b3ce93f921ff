import { RequestError } from "@tandem/protocol";
import type { ApprovalRequests } from "../approvals/approval-requests.ts";
import { RUN_LOST } from "../log/open-runs.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import { cancellation } from "../approvals/outcome.ts";
import { closing, isWorkerCall } from "../log/open-turn.ts";
import type { QuotaWait } from "./quota-wait.ts";
import { readInterruptedTurn, type InterruptedTurn } from "./read-interrupted-turn.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnEnding } from "./turn-ending.ts";
import { interruptedTurn, turnFailure } from "./turn-failure.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { isWaiting } from "./turn-state.ts";
import type { TurnStatus } from "./turn-status.ts";

export interface InheritingParts {
  machine: TurnMachine;
  requests: ApprovalRequests;
  tasks: BackgroundTasks;
  status: TurnStatus;
  quotaWait: QuotaWait;
  ending: TurnEnding;
  /** Continues the turn in a new process. */
  resume: () => Promise<void>;
}

/**
 * Takes over the turn that a former writer left open: closes its open calls, then continues or ends it. With `closes` it
 * only closes the calls, and the caller ends the turn.
 */
export async function inheritTurn(
  dependencies: TurnDependencies,
  { machine, requests, tasks, status, quotaWait, ending, resume }: InheritingParts,
  closes?: true,
): Promise<void> {
  const { store, settings, writer } = dependencies;
  const interrupted = await readInterruptedTurn(store, writer.row);
  tasks.end(RUN_LOST);
  if (!interrupted) return;
  const { messages, windows: quotaWaits } = interrupted;
  machine.apply({ type: "inherit", at: settings.clock.now(), messages, quotaWaits });
  await closeInterruptedTurn(interrupted, dependencies, requests);
  if (closes) return;
  const { lastLoss = "The server or its Claude Code process died in the middle of the turn." } = dependencies;
  const closed = [...interrupted.running, ...interrupted.cancelled].map(({ use }) => use.id);
  const recovered = { type: "tandem.recovered" as const, cause: lastLoss, closed };
  if (interrupted.isStopped) {
    if (!interrupted.isHandedOver) await writer.write([recovered]);
    machine.apply({ type: "interrupt" });
    return ending.end(interruptedTurn(), "interrupt");
  }
  if (isWaiting(machine.state)) {
    machine.apply({ type: "suspend" });
    return status.announce();
  }
  if (quotaWait.inherit(writer.row)) return quotaWait.wait();
  if (ending.outcomes.isEvaluating) return ending.gradeAgain(interrupted.isHandedOver);
  if (interrupted.isHandedOver) {
    await writer.write([{ type: "session.status_running" }], { status: "running" });
    return resume();
  }
  await writer.write([recovered]);
  if (settings.recovery === "resume" || interrupted.isUntold) {
    await writer.place(status.running(), { status: "running" });
    await resume();
  } else await ending.end(turnFailure(new RequestError("unavailable", lastLoss)), "crash");
}

/** Takes over the usage and the requests of a former writer, and closes the calls that it had running. */
async function closeInterruptedTurn(
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
  await writer.place([
    ...closings,
    ...unrun,
    ...interrupted.cancelled.flatMap((call) => cancellation(call, writer.now)),
  ]);
  requests.askOutcomes(interrupted.unknown);
}
