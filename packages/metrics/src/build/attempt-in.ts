import { MetricError } from "../metric-error.ts";
import type { BrokenDefinition } from "../model/model.ts";

/** Runs one part of the checks. A refused definition is added to `broken`, and the result is undefined. */
export function attemptIn<T>(
  broken: BrokenDefinition[],
  entity: string,
  name: string | undefined,
  build: () => T,
): T | undefined {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    broken.push({
      entity,
      ...(name !== undefined && { name }),
      message: error.message,
      ...(error.fix && { fix: error.fix }),
    });
    return undefined;
  }
}
