import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { findPastSessions, readPastSession } from "./past-sessions.ts";

const ID = "0b5fa0ff-5b2c-4f38-a2b0-6f6f8c4a9d11";

test("a named pipe in place of a transcript does not block", async () => {
  const root = await mkdtemp(join(tmpdir(), "tandem-past-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const folder = join(root, "projects", "-src-shop");
  const subagents = join(folder, ID, "subagents");
  await mkdir(subagents, { recursive: true });
  await writeFile(join(folder, `${ID}.jsonl`), '{"type":"user","message":{"role":"user","content":"Hello."}}\n');
  await writeFile(join(subagents, "agent-one.jsonl"), '{"type":"user","isSidechain":true}\n');
  await promisify(execFile)("mkfifo", [join(subagents, "agent-one.meta.json")]);
  const [session] = await findPastSessions(root);
  const places: string[] = [];
  for await (const { place } of readPastSession(session!)) places.push(place);
  expect(places.toSorted()).toEqual(["1", "one/1"]);
});
