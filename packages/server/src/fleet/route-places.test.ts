import { expect, test } from "vitest";
import type { At } from "../http/route.ts";
import { routeTable } from "../http/route-table.ts";

const namesAt = (at: At): string[] => routeTable.filter((route) => route.at === at).map(({ name }) => name);

// Lists where each route runs, so that adding a route requires a decision.

test("routes of the session's writer, else of its folder's machine, else of this process", () => {
  expect(namesAt("writer")).toEqual([
    "sessions.update",
    "sessions.archive",
    "sessions.delete",
    "sessions.events.take_back",
    "sessions.threads.archive",
    "sessions.resources.update",
    "sessions.tasks.list",
    "sessions.tasks.stop",
  ]);
});

test("routes that need the session's folder", () => {
  expect(namesAt("folder")).toEqual(
    `sessions.resources.add sessions.resources.delete sessions.commands.list sessions.shell.run sessions.files.list sessions.files.search
    sessions.files.read sessions.files.write sessions.files.move sessions.files.makeFolder sessions.files.delete sessions.checkpoints sessions.diff sessions.cassette sessions.rewind sessions.undoRewind
    sessions.fork sessions.worktree.retrieve sessions.worktree.patch sessions.worktree.merge
    sessions.worktree.apply sessions.worktree.remove`.split(/\s+/),
  );
});

test("routes of a worker that has the folder, the labels or the models", () => {
  expect(namesAt("worker")).toEqual(
    `agents.create agents.update environments.create environments.update
    deployments.create deployments.update deployments.run sessions.create commands.list
    models.list models.retrieve trust.retrieve`.split(/\s+/),
  );
});

test("routes of a worker that has the context", () => {
  expect(namesAt("job")).toEqual(["jobs.create"]);
});

test("routes of all processes that run sessions", () => {
  expect(namesAt("each")).toEqual(["emergency.stop", "emergency.resume", "worktrees.list", "worktrees.prune"]);
});

test("routes of a process that has the context", () => {
  const sections = new Set(namesAt("context").map((name) => name.split(".", 1)[0]));
  expect(sections).toEqual(new Set(["context", "jobs", "memoryStores", "proposals"]));
});

test("no forwarded route has an upload: the body is read first to choose a process, and kept for a retry", () => {
  expect(routeTable.filter(({ kind, at }) => kind === "upload" && at !== "here")).toEqual([]);
  // Answers of all processes can only be merged as JSON.
  expect(routeTable.filter(({ kind, at }) => kind !== "json" && at === "each")).toEqual([]);
});

test("every route that runs at a session's process names the session", () => {
  const bound = routeTable.filter(({ at }) => at === "writer" || at === "folder");
  expect(bound.filter(({ path }) => !path.includes("/:session_id"))).toEqual([]);
});

test("streams, logs and sends work at every process", () => {
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
