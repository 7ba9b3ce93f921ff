import { existsSync } from "node:fs";
import { readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newId, project, type LoggedEvent, type Session, type SessionId } from "@tandem/protocol";
import { text, toolUse } from "@tandem/rehearsal";
import { openStore } from "@tandem/storage";
import { CheckpointStores } from "@tandem/workspace";
import { afterAll, describe, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, typesOf } from "../testing/engine-stage.ts";

const CHECKPOINTS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

let session: Session;
const stage = await setEngineStage();
let engine = await stage.open({ checkpoints: CHECKPOINTS });
afterAll(() => stage[Symbol.asyncDispose]());
/** A session that tests of files share, with the turns that it has already. */
async function reuse(): Promise<(turn: number) => number> {
  session = await engine.reuse(ALLOW_ALL);
  const { turns } = await history().checkpoints(session.id);
  return (turn) => turns.length + turn;
}

const at = (path: string): string => join(stage.folder, path);
const read = (path: string) => readFile(at(path), "utf8");
const history = () => engine.engine.history;
const bash = (command: string) => [toolUse("Bash", { command }), text("Done.")];

async function turn(words: string, script: Parameters<typeof stage.rehearsal.use>[0]): Promise<LoggedEvent[]> {
  stage.rehearsal.use(script);
  return engine.turn(session, words);
}
const events = async () => (await engine.engine.sessions.events(session.id, { limit: 1_000 })).events;
/** Messages of the last model request. */
const lastRequest = (): string => JSON.stringify(stage.rehearsal.requests.at(-1));

/** Truncates the log as if the server died during the rewind. */
async function cutOff({ id }: Session, half: () => Promise<void>): Promise<void> {
  const { folder } = (await engine.store.sessions.get(id))!;
  const checkpointStores = new CheckpointStores(join(await realpath(stage.root), "state", "checkpoints"), CHECKPOINTS);
  const { id: checkpoint } = await (await checkpointStores.of(folder)).take(id, "rewind");
  await engine.stop();
  const store = await openStore(join(stage.root, "tandem.db"));
  const lease = (await store.leases.take(id as SessionId, "a server that dies", 60_000))!;
  const event = { type: "tandem.checkpoint", checkpoint_id: checkpoint, when: "rewind", message_id: null } as const;
  const entry = { ...event, files_changed: 0, skipped: 0, id: newId("event"), processed_at: new Date().toISOString() };
  await store.events.append(lease, [{ thread: null, event: entry }]);
  await half();
  await store.leases.release(lease);
  await store[Symbol.asyncDispose]();
  engine = await stage.open({ checkpoints: CHECKPOINTS });
}

test("a diff of a turn, of a session, and to now", async () => {
  session = await engine.reuse(ALLOW_ALL);
  await writeFile(at("diff.txt"), "a\n");
  await turn("One.", bash("echo b >> diff.txt"));
  await turn("Two.", bash("echo c >> diff.txt"));
  await writeFile(at("diff.txt"), "by a person\n");
  const lines = async (query: object) => {
    const { files } = await history().diff(session.id, query);
    return files.map(({ path, added, removed }) => [path, added, removed]);
  };
  expect(await lines({ turn: 2 })).toEqual([["diff.txt", 1, 0]]);
  expect(await lines({})).toEqual([["diff.txt", 2, 0]]);
  expect(await lines({ to: "now" })).toEqual([["diff.txt", 1, 1]]);
  const { checkpoints, turns } = await history().checkpoints(session.id);
  expect(turns).toMatchObject([
    { turn: 1, text: "One.", files_changed: 1, rewound: false },
    { turn: 2, text: "Two.", files_changed: 1 },
  ]);
  expect(checkpoints.map(({ when, turn: number, kept }) => [when, number, kept])).toEqual([
    ["before", 1, true],
    ["after", 1, true],
    ["before", 2, true],
    ["after", 2, true],
  ]);
});

test("compaction runs on demand, and never unless configured or requested", async () => {
  await reuse();
  const usage = (input_tokens: number) => ({ usage: { input_tokens, output_tokens: 5 } });
  await turn("Fill it.", [text("Big.", usage(900_000))]);
  expect(stage.rehearsal.requests).toHaveLength(1);
  await expect.poll(() => engine.engine.sessions.get(session.id)).toMatchObject({ status: "idle" });
  const head = await engine.engine.sessions.head(session.id);
  stage.rehearsal.use([text("<summary>Hello.</summary>", usage(700))]);
  await history().compact(session.id);
  const compacted = await engine.until(session, ({ event }) => event.type === "session.status_idle", head);
  expect(typesOf(compacted)).toContain("tandem.compaction");
  expect(stage.rehearsal.requests).toHaveLength(1);
});

describe("a rewind", () => {
  /** A session that tests of the conversation share, in this order. */
  let conversation: Session;

  test("restores a file that Bash deleted, and removes a file that it created", async () => {
    const nth = await reuse();
    await writeFile(at("kept.txt"), "precious\n");
    await turn("Tidy up.", bash("rm kept.txt && mkdir new && echo x > new/made.txt"));
    expect([existsSync(at("kept.txt")), existsSync(at("new/made.txt"))]).toEqual([false, true]);
    const plan = await history().rewind(session.id, { turn: nth(1), scope: "files", dry_run: true });
    expect(plan).toMatchObject({ dry_run: true, turn: nth(1), foreign: [] });
    expect(plan.diff?.files.map(({ path, status }) => [path, status])).toEqual([
      ["kept.txt", "added"],
      ["new/made.txt", "deleted"],
    ]);
    expect(existsSync(at("kept.txt"))).toBe(false);
    await history().rewind(session.id, { turn: nth(1), scope: "files" });
    expect(await read("kept.txt")).toBe("precious\n");
    expect(existsSync(at("new"))).toBe(false);
    await turn("Go on.", [text("I remember.")]);
    expect(lastRequest()).toContain("Tidy up.");
    await rm(at("kept.txt"));
  });

  test("of the conversation removes it from the model's context; the log keeps it", async () => {
    session = await engine.session({}, ALLOW_ALL);
    await turn("FIRST-words", [text("One.")]);
    await turn("SECOND-words", [text("SECOND-answer")]);
    await turn("THIRD-words", [text("THIRD-answer")]);
    const before = await engine.engine.sessions.get(session.id);
    const outcome = await history().rewind(session.id, { turn: 2, scope: "conversation" });
    expect(outcome).toMatchObject({ turns: 2, diff: null });
    await turn("FOURTH-words", [text("Four.")]);
    const request = lastRequest();
    expect(request).toContain("FIRST-words");
    expect(request).toContain("FOURTH-words");
    for (const gone of ["SECOND-words", "SECOND-answer", "THIRD-words", "THIRD-answer"]) {
      expect(request).not.toContain(gone);
    }
    const shown = project(await events());
    const marked = shown.filter(({ rewound }) => rewound !== undefined).flatMap(({ parts }) => parts);
    expect(JSON.stringify(marked)).toContain("SECOND-answer");
    expect(JSON.stringify(marked)).not.toContain("FOURTH-words");
    const { usage } = await engine.engine.sessions.get(session.id);
    expect(usage.output_tokens).toBeGreaterThan(before.usage.output_tokens);
    conversation = session;
  });

  test("can be undone for files and conversation", async () => {
    session = conversation;
    await writeFile(at("undo.txt"), "old\n");
    await turn("FIFTH-words", bash("echo new > undo.txt"));
    await history().rewind(session.id, { turn: 5 }, "Ada");
    expect(await read("undo.txt")).toBe("old\n");
    await history().undoRewind(session.id, {}, "Bob");
    expect(await read("undo.txt")).toBe("new\n");
    const rewinds = (await events()).flatMap(({ event }) => (event.type === "tandem.rewound" ? [event.by] : []));
    expect(rewinds.slice(-2)).toEqual(["Ada", "Bob"]);
    await turn("SIXTH-words", [text("Six.")]);
    expect(lastRequest()).toMatch(/FOURTH-words.*FIFTH-words/s);
    expect(lastRequest(), "a rewind applies to later processes").not.toContain("SECOND-words");
    const rewound = project(await events()).filter((message) => message.rewound !== undefined);
    expect(JSON.stringify(rewound)).not.toContain("FIFTH-words");
    await expect(history().undoRewind(session.id, {})).rejects.toMatchObject({ code: "conflict" });
  });

  test("to the start leaves the model's context empty", async () => {
    session = conversation;
    await history().rewind(session.id, { turn: 1, scope: "conversation" });
    await turn("SEVENTH-words", [text("Seven.")]);
    expect(lastRequest()).toContain("SEVENTH-words");
    expect(lastRequest()).not.toMatch(/FIRST-words|SECOND-words|FOURTH-words|FIFTH-words|SIXTH-words/);
    await turn("EIGHTH-words", [text("Eight.")]);
    expect(lastRequest()).toContain("SEVENTH-words");
    await expect(history().rewind(session.id, { turn: 1 })).rejects.toMatchObject({ code: "conflict" });
  });

  test("keeps other programs' changes, and overwrites them in the same files only if forced", async () => {
    const nth = await reuse();
    await writeFile(at("shared.txt"), "1\n");
    await writeFile(at("foreign.txt"), "1\n");
    await turn("Change it.", bash("echo 2 > shared.txt"));
    await writeFile(at("shared.txt"), "3, by a person\n");
    await writeFile(at("foreign.txt"), "2, by a person\n");
    const plan = await history().rewind(session.id, { turn: nth(1), scope: "files", dry_run: true });
    expect(plan.foreign).toEqual([{ path: "shared.txt", reason: expect.stringContaining("since") }]);
    await expect(history().rewind(session.id, { turn: nth(1), scope: "files" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("shared.txt"),
    });
    expect(await read("shared.txt")).toBe("3, by a person\n");
    await history().rewind(session.id, { turn: nth(1), scope: "files", force: true });
    expect([await read("shared.txt"), await read("foreign.txt")]).toEqual(["1\n", "2, by a person\n"]);
    await history().undoRewind(session.id, {});
    expect(await read("shared.txt")).toBe("3, by a person\n");
  });

  test("detects a person's changes between two turns", async () => {
    const nth = await reuse();
    await writeFile(at("between.txt"), "1\n");
    await turn("One.", [text("One.")]);
    await writeFile(at("between.txt"), "2, by a person\n");
    await turn("Two.", bash("echo 3 >> between.txt"));
    const plan = await history().rewind(session.id, { turn: nth(1), scope: "files", dry_run: true });
    expect(plan.foreign).toEqual([{ path: "between.txt", reason: expect.stringContaining("between two turns") }]);
    const last = await history().rewind(session.id, { turn: nth(2), scope: "files", dry_run: true });
    expect(last.foreign).toEqual([]);
  });

  test("is refused while a turn runs", async () => {
    await reuse();
    stage.rehearsal.use([toolUse("Bash", { command: "tail -F nothing.txt" })]);
    await engine.say(session, "Wait.");
    await engine.until(session, ({ event }) => event.type === "agent.tool_use");
    await expect(history().rewind(session.id, { turn: 1 })).rejects.toMatchObject({ code: "conflict" });
    await engine.engine.sessions.send(session.id, [{ type: "user.interrupt" }]);
    await engine.until(session, ({ event }) => event.type === "session.status_idle");
  });

  test("a rewind that was interrupted by a crash can be undone and repeated", async () => {
    const nth = await reuse();
    await writeFile(at("one.txt"), "1\n");
    await writeFile(at("two.txt"), "1\n");
    await turn("Change both.", bash("echo 2 > one.txt; echo 2 > two.txt"));
    // A server that dies during a rewind: the log has the state before, and half of the files are restored.
    await cutOff(session, async () => writeFile(at("one.txt"), "1\n"));
    await history().undoRewind(session.id, {});
    expect([await read("one.txt"), await read("two.txt")]).toEqual(["2\n", "2\n"]);
    await cutOff(session, async () => writeFile(at("one.txt"), "1\n"));
    await history().rewind(session.id, { turn: nth(1), scope: "files" });
    expect([await read("one.txt"), await read("two.txt")]).toEqual(["1\n", "1\n"]);
  });
});

test("if checkpoints fail, every turn logs it", async () => {
  const crowded = await stage.open({ checkpoints: { ...CHECKPOINTS, maxFiles: 1 } });
  await writeFile(at("one.txt"), "1");
  await writeFile(at("two.txt"), "2");
  const other = await crowded.session({}, ALLOW_ALL);
  for (const words of ["First.", "Second."]) {
    stage.rehearsal.use([text("Done.")]);
    const said = (await crowded.turn(other, words)).flatMap(({ event }) =>
      event.type === "tandem.notice" ? [event.text] : [],
    );
    expect(said, words).toEqual([expect.stringContaining("No checkpoint was taken, so the files cannot be rewound")]);
  }
  await crowded.stop();
});
