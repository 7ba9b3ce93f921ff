import { RequestError, type Interruption } from "@tandem/protocol";
import { haltText, type Halt } from "../budgets/kill-switch.ts";
import { errorDetail } from "../log/error-detail.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import { interruptedTurn, turnFailure } from "../turn/turn-failure.ts";
import type { TurnRunner } from "../turn/turn-runner.ts";
import { isBusy } from "../turn/turn-state.ts";

// The ends of an open turn that come from outside: not by its messages, and not by Claude Code.

/** The session is archived or deleted. */
export async function interruptTurn(runner: TurnRunner): Promise<void> {
  await runner.close();
  await runner.end(interruptedTurn(), "stopped");
}

/** The kill switch. A turn that waits for a person keeps waiting, without its process. True if a turn ended. */
export async function haltTurn(runner: TurnRunner, writer: SessionWriter, halt: Halt): Promise<boolean> {
  const isAsked = unansweredCalls(writer.row).length > 0;
  const isRunning = runner.running && !isAsked;
  if (isRunning) await writer.write([{ type: "tandem.notice", level: "warning", text: haltText(halt) }]);
  if (isAsked) await runner.release();
  else await runner.close();
  if (!isRunning) return false;
  await runner.ending.endOutcome(haltText(halt));
  await runner.end(interruptedTurn(), "stopped");
  return true;
}

/** The server stops. A grading is left to the next writer. */
export async function stopTurn(runner: TurnRunner, why: Interruption): Promise<void> {
  if (runner.state.type === "grading") await runner.ending.leaveOpen();
  if (!isBusy(runner.state)) return;
  // In the background, the turn has its answer.
  const isAnswered = runner.state.type === "background";
  await runner.close();
  await runner.end(isAnswered ? interruptedTurn() : turnFailure(serverStopped()), why);
}

/** No worker could continue the turn. Logs the error, also if no turn is open. */
export async function giveUpTurn(
  runner: TurnRunner,
  writer: SessionWriter,
  { error, isInherited }: { error: unknown; isInherited: boolean },
): Promise<void> {
  const { status } = writer.row;
  const wasRunning = status === "running" || status === "rescheduling";
  if (wasRunning && !isInherited) await runner.inherit(true);
  if (wasRunning && runner.running) return runner.end(turnFailure(error), "crash");
  await writer.write([{ type: "session.error", error: errorDetail(error) }]);
}

const serverStopped = (): RequestError =>
  new RequestError("unavailable", "The server was stopped before the turn ended.", {
    fix: "Send a message to continue the conversation.",
  });
