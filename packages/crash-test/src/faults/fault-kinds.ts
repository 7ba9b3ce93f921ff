import { SESSION_STATES, type SessionState } from "../operation-history.ts";

/** Faults of the server's processes and their machine. */
const PROCESS_FAULTS = [
  "kill",
  "kill-write",
  "power-cut",
  "stop",
  "pause",
  "kill-child",
  "kill-worker",
  "disk-full",
  "clock-step",
] as const;
const NETWORK_FAULTS = ["cut-stream", "lost-answer", "lost-request", "slow", "half-open"] as const;
const CLIENT_FAULTS = ["two-answers"] as const;
export const FAULT_KINDS = [...PROCESS_FAULTS, ...NETWORK_FAULTS, ...CLIENT_FAULTS] as const;

export type NetworkFault = (typeof NETWORK_FAULTS)[number];
export type FaultKind = (typeof FAULT_KINDS)[number];

export const DESCRIPTIONS: Readonly<Record<FaultKind, string>> = {
  kill: "kill -9 of the server, then a restart",
  "kill-write": "kill -9 of a process between two of its writes, then a restart",
  "power-cut": "kill -9 of all processes at once, also the agents', then a restart",
  stop: "SIGTERM of the server, then a restart",
  pause: "SIGSTOP of a process for up to three seconds, then SIGCONT",
  "kill-child": "kill -9 of the agent's process (Claude Code)",
  "kill-worker": "kill -9 of a worker of a fleet, then a restart",
  "disk-full": "no space on the disk of the server's state for up to two seconds",
  "clock-step": "the wall clock jumps by up to an hour, forward or back",
  "cut-stream": "an event stream breaks after a few events",
  "lost-answer": "a request is carried out, and its answer is lost",
  "lost-request": "the connection breaks before the server gets the request",
  slow: "an answer arrives up to two seconds late",
  "half-open": "a connection stays open without an answer for up to two seconds",
  "two-answers": "two clients allow and deny the same call at the same time",
};

/** Built-in faults that leave all processes alone, so that no turn may fail because of them. */
export const SPARING_FAULTS: readonly string[] = [...NETWORK_FAULTS, ...CLIENT_FAULTS];

export const isNetworkFault = (kind: string): kind is NetworkFault => NETWORK_FAULTS.some((one) => one === kind);

/** The states in which a kind of fault is aimed at sessions. */
export function statesFor(kind: string): readonly SessionState[] {
  if (kind === "kill" || kind === "stop" || kind === "kill-worker") return SESSION_STATES;
  if (kind === "kill-child") return ["model", "tool", "approval", "custom"];
  return SESSION_STATES.filter((state) => state !== "resuming");
}
