import type { Invariant } from "./invariant.ts";

export const noProcessLeft: Invariant = {
  name: "no-process-left",
  promise: "No process is left after the server has stopped.",
  check: ({ leftProcesses }) =>
    leftProcesses.map(({ pid, command }) => ({ message: `Process ${pid} is left: ${command.slice(0, 200)}` })),
};
