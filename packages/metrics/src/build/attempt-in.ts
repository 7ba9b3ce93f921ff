import { attempt, MetricError } from "../metric-error.ts";
import type { BrokenDefinition } from "../model/model.ts";

/** Runs one part of the checks. A refused definition is added to `broken`, and the result is undefined. */
export function attemptIn<T>(
  broken: BrokenDefinition[],
  entity: string,
  name: string | undefined,
  build: () => T,
): T | undefined {
  const built = attempt(build);
  if (!(built instanceof MetricError)) return built;
  const { message, fix } = built;
  broken.push({ entity, ...(name !== undefined && { name }), message, ...(fix && { fix }) });
  return undefined;
}
