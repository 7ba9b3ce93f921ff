import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { slowly, text } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { setEngineStage } from "../testing/engine-stage.ts";

const CHECKPOINTS = { maxFiles: 1_000, maxFileBytes: 1024 * 1024, maxTotalBytes: 1024 ** 3, keepMs: 3_600_000 };

const stage = await setEngineStage();
const engine = await stage.open({ checkpoints: CHECKPOINTS });
const session = await engine.session();
afterAll(() => stage[Symbol.asyncDispose]());

const at = (path: string): string => join(stage.folder, path);
const folder = () => engine.engine.sessions.folder;
const bytes = (words: string) => new TextEncoder().encode(words);
const hash = (words: string) => createHash("sha256").update(words).digest("hex");

test("files are changed between turns, logged, and undone by a rewind", async () => {
  await writeFile(at("old.txt"), "old");
  await writeFile(at("gone.txt"), "gone");
  stage.rehearsal.use([text("Hello.")]);
  await engine.turn(session, "Hello.");
  const file = { path: "old.txt", content: bytes("new"), sha256: hash("old") };
  expect(await folder().write(session.id, file, "Ada")).toMatchObject({
    action: "written",
    path: "old.txt",
    sha256: hash("new"),
    checkpoint_id: expect.stringMatching(/^ckpt_/),
  });
  await folder().delete(session.id, { path: "gone.txt" }, "Ada");
  await folder().makeFolder(session.id, "made", "Ada");
  await folder().move(session.id, { from: "old.txt", to: "made/moved.txt" }, "Ada");
  expect(await readFile(at("made/moved.txt"), "utf8")).toBe("new");
  const { events } = await engine.engine.sessions.events(session.id, { limit: 100, types: ["tandem.file"] });
  expect(events.map(({ event }) => event)).toMatchObject([
    { action: "written", path: "old.txt", by: "Ada" },
    { action: "deleted", path: "gone.txt" },
    { action: "folder", path: "made" },
    { action: "moved", path: "old.txt", to: "made/moved.txt" },
  ]);
  await engine.engine.history.rewind(session.id, { turn: 1, scope: "files" });
  expect(await readFile(at("old.txt"), "utf8")).toBe("old");
  expect(await readFile(at("gone.txt"), "utf8")).toBe("gone");
  expect(existsSync(at("made/moved.txt"))).toBe(false);
});

test("nothing that decides which programs run is changed, also through a link", async () => {
  await mkdir(at(".git"), { recursive: true });
  await symlink(".git", at("plain"));
  const write = (path: string) => folder().write(session.id, { path, content: bytes("x") }, "Ada");
  for (const path of [".git/hooks/pre-commit", "plain/config", ".claude/settings.json", ".mnt/x", "../out.txt"]) {
    await expect(write(path), path).rejects.toMatchObject({ code: "forbidden" });
  }
  await expect(folder().delete(session.id, { path: ".git", recursive: true }, "Ada")).rejects.toThrow(/decides/);
  await expect(folder().move(session.id, { from: "gone.txt", to: ".mcp.json" }, "Ada")).rejects.toThrow(/decides/);
  const large = folder().write(session.id, { path: "large", content: new Uint8Array(11 * 1024 * 1024) }, "Ada");
  await expect(large).rejects.toMatchObject({ code: "too_large" });
});

test("while a turn runs, and in an archived session, files are not changed", async () => {
  stage.rehearsal.use([slowly(text("Still talking."), { firstByteMs: 20_000 })]);
  const busy = await engine.session();
  await engine.say(busy, "Talk.");
  await engine.until(busy, ({ event }) => event.type === "span.model_request_start");
  const write = () => folder().write(busy.id, { path: "busy.txt", content: bytes("x") }, "Ada");
  await expect(write()).rejects.toMatchObject({ code: "conflict" });
  await engine.engine.sessions.archive(busy.id);
  await expect(write()).rejects.toMatchObject({ code: "invalid_request" });
  expect(existsSync(at("busy.txt"))).toBe(false);
});
