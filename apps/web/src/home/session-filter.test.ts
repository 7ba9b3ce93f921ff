import { expect, test } from "vitest";
import type { FeedSession } from "../live/session-feed.ts";
import { matchesFilter, groupByState, readHomeSearch } from "./session-filter.ts";

const session = (id: string, parts: Partial<FeedSession> = {}): FeedSession => ({
  id,
  title: `Title of ${id}`,
  status: "idle",
  agent: { id: "agent_1", name: "coder" },
  environment_id: "env_local",
  folder: "/srv/shop",
  waiting_for: [],
  list_cost: { amount: "0", currency: "USD" },
  cut_short: null,
  outcome: null,
  evaluation: null,
  parked: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  archived_at: null,
  ...parts,
});

test("every word must match the title, the agent or the folder", () => {
  expect(matchesFilter(session("a"), { q: "CODER shop" })).toBe(true);
  expect(matchesFilter(session("a"), { q: "coder garden" })).toBe(false);
  expect(matchesFilter(session("a", { title: null }), { q: "untitled" })).toBe(true);
  expect(matchesFilter(session("a"), { state: "running" })).toBe(false);
  expect(matchesFilter(session("a"), { agent: "agent_2" })).toBe(false);
  expect(matchesFilter(session("a"), {})).toBe(true);
});

test("pending sessions come first; within a group pinned ones, then the latest", () => {
  const asks = { event_id: "e", type: "tool_confirmation" as const, name: "Bash" };
  const groups = groupByState(
    [
      session("old"),
      session("new", { updated_at: "2026-02-01T00:00:00Z" }),
      session("pinned"),
      session("asks", { waiting_for: [asks] }),
      session("works", { status: "running", cut_short: "retries_exhausted" }),
      session("failed", { cut_short: "retries_exhausted" }),
    ],
    new Set(["pinned"]),
  );
  expect(groups.map(({ state, sessions }) => [state, sessions.map(({ id }) => id)])).toEqual([
    ["waiting", ["asks"]],
    ["stuck", ["failed"]],
    ["running", ["works"]],
    ["idle", ["pinned", "new", "old"]],
  ]);
});

test("ignores invalid search parameters", () => {
  expect(readHomeSearch({ q: 42, state: "asleep", archived: true, other: 1 })).toEqual({ q: "42", archived: true });
});
