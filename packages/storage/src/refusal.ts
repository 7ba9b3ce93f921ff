import type { RequestErrorCode } from "@tandem/protocol";

/** Why work was not done, as data: errors lose their class between threads. */
export type Reason =
  | { type: "lease_lost"; session: string }
  | { type: "request"; code: RequestErrorCode; message: string; fix?: string }
  | { type: "tandem"; code: string; message: string; fix?: string };

/**
 * What is thrown inside of a database's work; a `Database` makes a `TandemError` of it. It has nothing to do with the
 * protocol's own classes, whose schemas would cost each thread a quarter of a second and 20 MB.
 */
export class Refusal extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, cause?: unknown) {
    super(reason.type, { cause });
    this.reason = reason;
  }
}

export const refuse = (code: RequestErrorCode, message: string, fix?: string): Refusal =>
  new Refusal({ type: "request", code, message, fix });

export const noSuchSession = (session: string): Refusal => refuse("not_found", `There is no session ${session}.`);

export const unavailable = (why: string, cause?: unknown): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "unavailable",
      message: `The database cannot be used: ${why}.`,
      fix: "Try again in a moment. If it stays like this, look at the database and its disk.",
    },
    cause,
  );

export const alreadyThere = (cause: unknown): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "conflict",
      message: "Something with this id is there already.",
      fix: "Use another id, or change what is there.",
    },
    cause,
  );

/** Of anything that was thrown. What we did not expect is something that no waiting will mend. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Refusal) return error.reason;
  const message = error instanceof Error ? error.message : String(error);
  return { type: "tandem", code: "storage_failed", message: `The database refused: ${message}.` };
}
