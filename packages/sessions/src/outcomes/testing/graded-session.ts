import { join } from "node:path";
import type { ClientEvent, EventOf, LoggedEvent, Session } from "@tandem/protocol";
import { object, type ModelRequest, type Rule } from "@tandem/rehearsal";
import type { EngineStage, RunningEngine } from "../../testing/engine-stage.ts";

type DefineOutcome = Extract<ClientEvent, { type: "user.define_outcome" }>;
type Span = EventOf<"span.outcome_evaluation_start" | "span.outcome_evaluation_end">;

export const haiku = (more: Partial<DefineOutcome> = {}): DefineOutcome => ({
  type: "user.define_outcome",
  description: "A file haiku.txt with a haiku about rain.",
  rubric: { type: "text", content: "It has three lines. It mentions rain." },
  ...more,
});

export async function define(engine: RunningEngine, session: Session, more?: Partial<DefineOutcome>) {
  const [sent] = await engine.engine.sessions.send(session.id, [haiku(more)]);
  return sent as EventOf<"user.define_outcome">;
}

/** The grader's answer. */
export const verdict = (result: string, explanation: string): Rule => object({ explanation, result });

/** Starts and ends of evaluations. */
export const spansOf = (events: readonly LoggedEvent[]): Span[] =>
  events.flatMap(({ event }) =>
    event.type === "span.outcome_evaluation_start" || event.type === "span.outcome_evaluation_end" ? [event] : [],
  );

export const verdictsOf = (events: readonly LoggedEvent[]): EventOf<"span.outcome_evaluation_end">[] =>
  spansOf(events).flatMap((event) => (event.type === "span.outcome_evaluation_end" ? [event] : []));

export const isGrader = (request: ModelRequest): boolean => bodyOf(request).includes("You are a grader");

export const bodyOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.body) ?? "";

export const graderRequests = ({ rehearsal }: EngineStage): ModelRequest[] => rehearsal.modelRequests.filter(isGrader);

export const isGraderRequest = ({ event }: LoggedEvent): boolean => event.type === "tandem.grader_request";

export const pathIn = ({ folder }: EngineStage, name: string): string => join(folder, name);
