import { expect, test } from "vitest";
import type { At } from "../http/route.ts";
import { routeTable } from "../http/route-table.ts";

const namesAt = (at: At): string[] => routeTable.filter((route) => route.at === at).map(({ name }) => name);

// Whoever adds a route thinks about where it is done, and whoever reads this sees what is done where.

test("by who writes the session, else where its folder is, else here", () => {
  expect(namesAt("writer")).toEqual([
    "sessions.update",
    "sessions.archive",
    "sessions.delete",
    "sessions.events.take_back",
    "sessions.tasks.list",
    "sessions.tasks.stop",
  ]);
});

test("never without the session's folder", () => {
  expect(namesAt("folder")).toEqual([
    "sessions.commands.list",
    "sessions.shell.run",
    "sessions.files.list",
    "sessions.files.search",
    "sessions.files.read",
    "sessions.checkpoints",
    "sessions.diff",
    "sessions.rewind",
    "sessions.undoRewind",
    "sessions.fork",
    "sessions.worktree.retrieve",
    "sessions.worktree.patch",
    "sessions.worktree.merge",
    "sessions.worktree.apply",
    "sessions.worktree.remove",
  ]);
});

test("by a worker that has the folder, the labels, the models that are asked for", () => {
  expect(namesAt("worker")).toEqual([
    "agents.create",
    "agents.update",
    "environments.create",
    "environments.update",
    "sessions.create",
    "commands.list",
    "models.list",
    "models.retrieve",
    "trust.retrieve",
    "jobs.create",
  ]);
});

test("by all that run sessions", () => {
  expect(namesAt("each")).toEqual(["emergency.stop", "emergency.resume", "worktrees.list", "worktrees.prune"]);
});

test("by a process that has the context", () => {
  const sections = new Set(namesAt("context").map((name) => name.split(".", 1)[0]));
  expect(sections).toEqual(new Set(["context", "jobs", "memoryStores", "proposals"]));
});

test("what is passed on has no upload: a body is read here, to see where it belongs, and kept for a second try", () => {
  expect(routeTable.filter(({ kind, at }) => kind === "upload" && at !== "here")).toEqual([]);
  // What all are asked is put together from their answers.
  expect(routeTable.filter(({ kind, at }) => kind !== "json" && at === "each")).toEqual([]);
});

test("what is done for a session elsewhere names it", () => {
  const bound = routeTable.filter(({ at }) => at === "writer" || at === "folder");
  expect(bound.filter(({ path }) => !path.includes("/:session_id"))).toEqual([]);
});

test("whoever streams, reads the log or fills the inbox is at the right place anywhere", () => {
  const here = new Set(namesAt("here"));
  const needed = [
    "sessions.events.stream",
    "sessions.events.send",
    "sessions.events.list",
    "feed.stream",
    "approvals.answer",
  ];
  expect(needed.filter((name) => !here.has(name))).toEqual([]);
});
