import { mkdtemp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restoreTranscript } from "./restore-transcript.ts";
import { MemoryTranscripts } from "../testing/open-session.ts";
import { toText } from "./transcript-line.ts";

let folder: string;
let store: MemoryTranscripts;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "transcripts-"));
  store = new MemoryTranscripts();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (uuid: string) => ({ type: "user", uuid });
const file = () => join(folder, "id.jsonl");
const restore = (subpath = "") => restoreTranscript(store, subpath, folder, "id");

test("writes a stored transcript if there is no file, readable by its owner only", async () => {
  await store.append("", [line("1"), line("2")]);
  await restore();
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), line("2")]));
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test("replaces a file that is behind or has diverged", async () => {
  await store.append("", [line("1"), line("2")]);
  await writeFile(file(), toText([line("1"), line("x")]));
  await restore();
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), line("2")]));
});

test("keeps a file that only has more internal notes", async () => {
  await store.append("", [line("1")]);
  const note = { type: "cost-state", totalCostUSD: 1 };
  // The last line was truncated by a crash.
  const text = `${toText([line("1"), note])}{"type":"us`;
  await writeFile(file(), text);
  expect(await restore()).toEqual([line("1"), note]);
  expect(await readFile(file(), "utf8")).toBe(text);
});

test("replaces a file with unreported lines, and keeps a backup", async () => {
  await store.append("", [line("1")]);
  await writeFile(file(), toText([line("1"), line("2")]));
  expect(await restore()).toEqual([line("1")]);
  expect(await readFile(file(), "utf8")).toBe(toText([line("1")]));
  expect(await readFile(`${file()}.aside`, "utf8")).toBe(toText([line("1"), line("2")]));
});

test("writes a subagent's transcript beside it, with its metadata in a separate file", async () => {
  const metadata = { type: "agent_metadata", agentType: "reviewer", toolUseId: "toolu_1" };
  await store.append("subagents/agent-a1", [{ ...metadata, finished: false }, line("1"), metadata]);
  await restore("subagents/agent-a1");
  const base = join(folder, "id", "subagents", "agent-a1");
  expect(await readFile(`${base}.jsonl`, "utf8")).toBe(toText([line("1")]));
  expect(JSON.parse(await readFile(`${base}.meta.json`, "utf8"))).toEqual({
    agentType: "reviewer",
    toolUseId: "toolu_1",
  });
});

test("rejects a path outside of the folder", async () => {
  await mkdir(join(folder, "id"));
  await store.append("../../stolen", [line("1")]);
  await expect(restore("../../stolen")).rejects.toThrow("leads elsewhere");
});
