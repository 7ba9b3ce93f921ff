import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LabProcess, ProcessSightings } from "./process-sightings.ts";
import { SessionWatch } from "./session-watch.ts";
import { watchViolations } from "./watch-violations.ts";

const LOOK_MS = 300;
const NONE = { count: 0, longestMs: 0 };
const worker = (machine: string): LabProcess => ({ pid: `1-${machine}`, conversation: undefined, machine });
const claude = (pid: string, conversation: string, machine = "a"): LabProcess => ({ pid, conversation, machine });

function sightingsOf(...looks: LabProcess[][]): ProcessSightings {
  const sightings = new ProcessSightings();
  for (const [index, look] of looks.entries()) sightings.add(index * LOOK_MS, look);
  return sightings;
}

type Watched = Parameters<typeof watchViolations>;
const messages = (sightings: Watched[0], sessions: Watched[1], faults: Watched[2] = []): string[] =>
  watchViolations(sightings, sessions, faults).map(({ message }) => message);

test("two processes of a conversation are twins", () => {
  const look = [claude("10", "c1", "a"), claude("20", "c1", "b"), claude("30", "c2", "b")];
  const sessions = { c1: "s1", c2: "s2" };
  expect(messages(sightingsOf(look, look), sessions)).toEqual([
    "s1 had two processes at the same time: 10 in a, 20 in b.",
  ]);
});

test("the faults of the minute before are named", () => {
  const look = [claude("10", "c1", "a"), claude("20", "c1", "b")];
  const sightings = new ProcessSightings();
  for (const at of [100_000, 100_300]) sightings.add(at, look);
  const faults = [39_000, 81_000, 101_000].map((at) => ({ kind: "cut", state: "idle" as const, at }));
  expect(messages(sightings, { c1: "s1" }, faults)).toEqual([
    "s1 had two processes at the same time: 10 in a, 20 in b, cut 19 s before.",
  ]);
});

test("two conversations of a session are twins, whatever runs beside them", () => {
  const looks = [
    [claude("10", "c1", "a"), claude("20", "c2", "b")],
    [claude("10", "c1", "a"), claude("20", "c2", "b"), claude("30", "c2", "b")],
  ];
  const sessions = { c1: "s1", c2: "s1" };
  expect(messages(sightingsOf(...looks), sessions)).toEqual([
    "s1 had two processes at the same time: 10 in a, 20 in b.",
  ]);
});

test("two processes of a conversation that asked no model are twins", () => {
  const look = [claude("10", "c1"), claude("20", "c2"), claude("30", "c2")];
  expect(messages(sightingsOf(look, look), { c1: "s1" })).toEqual([
    "c2 had two processes at the same time: 20 in a, 30 in a.",
  ]);
});

test("two conversations in the scratch folder of a session are twins, also before they ask the model", () => {
  const look = [claude("10", "c1"), { ...claude("20", "c2"), session: "s1" }, { ...claude("30", "c3"), session: "s1" }];
  expect(messages(sightingsOf(look, look), { c1: "s0" })).toEqual([
    "s1 had two processes at the same time: 20 in a, 30 in a.",
  ]);
});

test("successors and ending processes are no twins", () => {
  const old = claude("10", "c1", "a");
  const next = claude("20", "c1", "b");
  const sessions = { c1: "s1" };
  expect(messages(sightingsOf([old], [old], [next], [next]), sessions)).toEqual([]);
  expect(messages(sightingsOf([old], [old, next], [next]), sessions)).toEqual([]);
});

test("processes of one session that exist at the same time are counted as overlaps", () => {
  const old = claude("10", "c1", "a");
  const next = claude("20", "c2", "b");
  const sightings = sightingsOf([old], [old, next], [old, next], [old, next], [next]);
  const overlaps = { count: 1, longestMs: 2 * LOOK_MS };
  expect(sightings.count({ c1: "s1", c2: "s1" })).toMatchObject({ overlaps });
  expect(sightings.count({ c1: "s1", c2: "s2" })).toMatchObject({ overlaps: NONE });
});

test("a watch that saw no process fails, as does one that missed a conversation", () => {
  expect(messages(sightingsOf([], [worker("a")]), {})).toEqual(["The watch saw no process of any session."]);
  expect(messages(sightingsOf([worker("a")]), { c1: "s1" })).toEqual(["The watch saw no process of any session."]);
  expect(messages(sightingsOf([claude("10", "c1")]), { c1: "s1", c2: "s1" })).toEqual([
    "The watch saw no process of s1's conversation c2.",
  ]);
});

test("takeovers are found by session, also with another conversation", () => {
  const before = [worker("a"), worker("b"), claude("10", "c1", "a"), claude("11", "c2", "a"), claude("20", "c3", "b")];
  const gone = [worker("b"), claude("20", "c3", "b")];
  const after = [...gone, { ...worker("a"), pid: "2-a" }, claude("21", "c4", "b"), claude("12", "c2", "a")];
  const looks = [before, before, ...Array.from({ length: 10 }, () => gone), after, after];
  const sightings = sightingsOf(...looks);
  const sessions = { c1: "s1", c2: "s2", c3: "s3", c4: "s1" };
  const died = LOOK_MS + 1;
  const took = 12 * LOOK_MS - died;
  expect(sightings.takeoversAfter([died], sessions)).toEqual({ moved: [took], stayed: [took] });
  expect(sightings.count(sessions)).toEqual({
    processes: 5,
    sessions: 3,
    silent: 0,
    successors: 2,
    moves: 1,
    overlaps: NONE,
  });
});

test.runIf(process.platform === "linux")(
  "the watch finds real processes by their command line and folder",
  async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "session-watch-")));
    const children: ChildProcess[] = [];
    try {
      for (const option of ["--session-id=c1", "--resume=c1", "--session-id=c2"]) {
        const args = ["-c", "read line; exit", "claude", "--input-format", option];
        const child = spawn("/bin/sh", args, {
          argv0: join(folder, "claude"),
          cwd: folder,
          stdio: ["pipe", "ignore", "ignore"],
        });
        children.push(child);
        await once(child, "spawn");
      }
      // Suspended ones count.
      children[0]?.kill("SIGSTOP");
      using watch = new SessionWatch(folder);
      watch.look();
      watch.look();
      const sessions = { c1: "s1", c2: "s2" };
      expect(watch.sightings.count(sessions)).toMatchObject({
        processes: 3,
        sessions: 2,
        silent: 0,
        successors: 1,
        moves: 0,
      });
      expect([...watch.sightings.twins(sessions).keys()]).toEqual(["s1"]);
    } finally {
      for (const child of children) child.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  },
);
