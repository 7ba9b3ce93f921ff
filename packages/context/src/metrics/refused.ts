import { MetricError } from "@tandem/metrics";
import { RequestError } from "@tandem/protocol";

/** Turns the compiler's refusal into an error of the request; its code stays as the detail. */
export async function refused<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    throw new RequestError("invalid_request", error.message, {
      ...(error.fix && { fix: error.fix }),
      detail: error.code,
      cause: error,
    });
  }
}
