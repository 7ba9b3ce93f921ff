import { RequestError } from "@tandem/protocol";

const MAX_TRIES = 20;

/** A record with the version that a write must name. */
export interface Versioned<T> {
  value: T;
  version: number;
}

/** Another writer was faster. */
class Outrun extends Error {
  override readonly cause: RequestError;

  constructor(cause: RequestError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** False if another writer was faster. */
export async function tryWrite(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof RequestError && error.code === "conflict") return false;
    throw error;
  }
}

/** For a write inside `untilWritten`: a conflict of versions makes it try again. */
export async function orOutrun<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    throw error instanceof RequestError && error.code === "conflict" ? new Outrun(error) : error;
  }
}

/** Repeats an attempt that read and wrote records, as long as other writers were faster. */
export async function untilWritten<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Outrun)) throw error;
      if (tried >= MAX_TRIES) throw error.cause;
    }
  }
}
