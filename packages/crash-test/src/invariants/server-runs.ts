import type { Invariant } from "./invariant.ts";

export const serverRuns: Invariant = {
  name: "server-runs",
  promise: "The server does not end by itself, and starts again after every fault.",
  check: ({ outages }) =>
    outages.map(({ process, type, detail }) => ({
      message:
        type === "did_not_start"
          ? `${process} did not start again: ${detail}`
          : `${process} ended without being killed: ${detail}`,
    })),
};
