import type { SessionRow, WaitingFor } from "@tandem/storage";

/** The calls of a session that need an answer. Allowed calls that have not started do not. */
export const unansweredCalls = ({ waitingFor }: Pick<SessionRow, "waitingFor">): WaitingFor[] =>
  waitingFor.filter(({ allowed }) => !allowed);
