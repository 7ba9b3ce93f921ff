import { RequestError, TandemError, type RequestErrorCode } from "@tandem/protocol";
import { LeaseLost } from "./lease-lost.ts";

// Errors lose their class between threads, so they travel as data.

export type WireError =
  | { type: "lease_lost"; session: string }
  | { type: "request"; code: RequestErrorCode; message: string; fix: string }
  | { type: "tandem"; code: string; message: string; fix: string };

export function toWire(error: unknown): WireError {
  if (error instanceof LeaseLost) return { type: "lease_lost", session: error.session };
  if (error instanceof RequestError) {
    return { type: "request", code: error.code, message: error.message, fix: error.fix };
  }
  const { code, message, fix } = error instanceof TandemError ? error : storageFailed(error);
  return { type: "tandem", code, message, fix };
}

export function fromWire(error: WireError): TandemError {
  switch (error.type) {
    case "lease_lost":
      return new LeaseLost(error.session);
    case "request":
      return new RequestError(error.code, error.message, { fix: error.fix });
    case "tandem":
      return new TandemError(error.code, error.message, { fix: error.fix });
  }
}

/** Something that should not happen, and that no waiting will mend. */
export function storageFailed(cause: unknown): TandemError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TandemError("storage_failed", `The database refused: ${reason}.`, { cause });
}

export const unavailable = (reason: string, cause?: unknown): RequestError =>
  new RequestError("unavailable", `The database cannot be used: ${reason}.`, {
    fix: "Try again in a moment. If it stays like this, look at the database and its disk.",
    cause,
  });

export const alreadyThere = (cause: unknown): RequestError =>
  new RequestError("conflict", "Something with this id is there already.", {
    fix: "Use another id, or change what is there.",
    cause,
  });
