import type { ChaosPlan } from "./chaos-run.ts";

const SERVERS = 2;

/** Two servers and workers with two sessions each. Four workers run as many Claude Code processes as two cores can run. */
export function chaosPlan({
  workers = 4,
  ...size
}: Partial<Pick<ChaosPlan, "sessions" | "messages" | "atOnce" | "kills" | "deadlineMs">> & {
  workers?: number;
}): ChaosPlan {
  const named = (role: "server" | "worker", count: number, args: readonly string[] = []) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${role}-${index + 1}`,
      isServer: role === "server",
      args: ["--as", role, ...args],
    }));
  return {
    members: [...named("server", SERVERS), ...named("worker", workers, ["--max-sessions", "2"])],
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
