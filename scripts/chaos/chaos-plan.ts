import type { ChaosPlan } from "./chaos-run.ts";

const SERVERS = 2;
const WORKERS = 4;

/** Two servers and four workers with two sessions each: as many Claude Code processes as two cores can run. */
export function chaosPlan(
  size: Partial<Pick<ChaosPlan, "sessions" | "messages" | "atOnce" | "kills" | "deadlineMs">>,
): ChaosPlan {
  const named = (role: "server" | "worker", count: number, args: readonly string[] = []) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${role}-${index + 1}`,
      isServer: role === "server",
      args: ["--as", role, ...args],
    }));
  return {
    members: [...named("server", SERVERS), ...named("worker", WORKERS, ["--max-sessions", "2"])],
    settings: "sessions: { idle: 1s }\n",
    sessions: 200,
    messages: 1,
    atOnce: 24,
    killEveryMs: 1_000,
    kills: 120,
    deadlineMs: 420_000,
    ...size,
  };
}
