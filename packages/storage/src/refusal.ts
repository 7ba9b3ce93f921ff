import type { RequestErrorCode } from "@tandem/protocol";

/** A failure as plain data, because errors lose their class between threads. */
export type Reason =
  | { type: "lease_lost"; session: string }
  | { type: "request"; code: RequestErrorCode; message: string; fix?: string; detail?: string }
  | { type: "tandem"; code: string; message: string; fix?: string };

/**
 * Thrown inside database work; a `Database` converts it to a `TandemError`. It does not import the protocol's error
 * classes: their schemas would cost each thread 250 ms and 20 MB.
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

const TRY_AGAIN = "Try again in a moment. If it stays like this, look at the database and its disk.";

export const unavailable = (why: string, cause?: unknown, fix = TRY_AGAIN): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "unavailable",
      message: `The database cannot be used: ${why}.`,
      fix,
    },
    cause,
  );

/** `detail` of the error of a call that nothing came of, because another process was writing. */
export const BUSY = "busy";

export const busy = (cause: unknown): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "unavailable",
      message: "The database cannot be used: another process is busy writing.",
      fix: TRY_AGAIN,
      detail: BUSY,
    },
    cause,
  );

/** `detail` of the error of a full disk. */
export const DISK_FULL = "disk_full";

export const fullDisk = (cause?: unknown): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "unavailable",
      message: "The database cannot be used: the disk is full.",
      fix: "Free some space on the database's disk. Nothing needs a restart.",
      detail: DISK_FULL,
    },
    cause,
  );

export const alreadyThere = (cause: unknown): Refusal =>
  new Refusal(
    {
      type: "request",
      code: "conflict",
      message: "Something with this id is there already.",
      fix: "Use another id, or change the existing entry.",
    },
    cause,
  );

/** Unexpected errors become `storage_failed`, which callers do not retry. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Refusal) return error.reason;
  const message = error instanceof Error ? error.message : String(error);
  return { type: "tandem", code: "storage_failed", message: `The database refused: ${message}.` };
}
