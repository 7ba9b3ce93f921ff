import type { Run } from "./run-queue.ts";

const CONTEXT = "context:";

/** Only processes that serve a context can run its jobs. */
export const jobPlace = (space: string): string => `${CONTEXT}${space}`;

export const isJobPlace = (place: string): boolean => place.startsWith(CONTEXT);

/** Calls a worker for the waiting jobs of a kind in a context. One such run at a time: so one job of a kind runs. */
export const jobRun = (tenant: string, space: string, kind: string): Run => ({
  kind: "job",
  key: `${space}:${kind}`,
  tenant,
  place: jobPlace(space),
  priority: 0,
});

/** The kind of the jobs that a run is about. */
export const jobKindOf = ({ key }: Pick<Run, "key">, space: string): string => key.slice(space.length + 1);
