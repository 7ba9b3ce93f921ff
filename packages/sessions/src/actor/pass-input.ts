import type { SessionEvent } from "@tandem/protocol";
import { isAnswer } from "../approvals/pending-calls.ts";
import type { SessionWriter } from "../log/session-writer.ts";
import { isTurnInput } from "../log/outcome-prompt.ts";
import { activeOutcome } from "../log/outcome-state.ts";
import type { TurnRunner } from "../turn/turn-runner.ts";
import type { SessionInput } from "./session-input.ts";

interface InputParts {
  input: SessionInput;
  runner: TurnRunner;
  writer: SessionWriter;
}

/** Passes queued input to the turns. Interrupts and answers do not queue behind messages. */
export async function passInput(waiting: readonly SessionEvent[], parts: InputParts): Promise<void> {
  const { input, runner, writer } = parts;
  for (const event of waiting) if (event.type === "user.interrupt") await runner.interrupt(event);
  const unbegun = waiting.filter((event) => isCancelled(event, waiting));
  if (unbegun.length > 0) await input.drop(unbegun, "interrupted before its turn began");
  await passSystemMessages(waiting, parts);
  for (const event of waiting.filter(isAnswer)) {
    if (!(await runner.answer(event))) await input.drop([event], "this answer is no longer expected");
  }
  for (const event of waiting) {
    if (!isTurnInput(event) || unbegun.includes(event)) continue;
    if (event.type === "user.define_outcome" && activeOutcome(writer.row)) {
      await input.drop([event], "the session works towards another outcome");
    } else await runner.offer(event);
    await passSystemMessages(waiting, parts);
  }
}

/** Messages that were sent before a system message are answered without it. */
async function passSystemMessages(waiting: readonly SessionEvent[], { runner, writer }: InputParts): Promise<void> {
  for (const event of waiting.filter((each) => !writer.hasTaken(each))) {
    if (isTurnInput(event)) return;
    if (event.type === "system.message") await runner.takeSystemMessage(event);
  }
}

/** Whether a queued message was cancelled by an interrupt of its turn. */
const isCancelled = (event: SessionEvent, waiting: readonly SessionEvent[]): boolean =>
  isTurnInput(event) &&
  !(event.type === "user.message" && event.tandem?.delivery === "steer") &&
  waiting.some((other) => other.type === "user.interrupt" && other.tandem?.turn_event_id === event.id);
