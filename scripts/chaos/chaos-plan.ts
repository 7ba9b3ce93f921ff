import type { ChaosPlan } from "./chaos-run.ts";

/** Two servers and four workers; a kill every second. */
export function chaosPlan(
  size: Partial<Pick<ChaosPlan, "sessions" | "messages" | "atOnce" | "kills" | "deadlineMs">>,
): ChaosPlan {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  return {
    members: numbers(6).map((number) => ({ name: `all-${number}`, isServer: true, args: [] })),
    settings: "sessions: { takeover: 2s, recovery: resume, idle: 1s }\n",
    sessions: 200,
    messages: 1,
    atOnce: 16,
    killEveryMs: 1_000,
    kills: 120,
    deadlineMs: 420_000,
    ...size,
  };
}
