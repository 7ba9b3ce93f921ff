import { mkdtemp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restoreTranscript } from "./restore-transcript.ts";
import { MemoryTranscripts } from "./testing/open-session.ts";
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

test("what is stored is written where nothing is, for its owner alone", async () => {
  await store.append("", [line("1"), line("2")]);
  await restore();
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), line("2")]));
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test("a file that is behind, or tells another story, gives way", async () => {
  await store.append("", [line("1"), line("2")]);
  await writeFile(file(), toText([line("1"), line("x")]));
  await restore();
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), line("2")]));
});

test("a file with more notes in it stays as it is", async () => {
  await store.append("", [line("1")]);
  const note = { type: "cost-state", totalCostUSD: 1 };
  // The last line was cut off by a crash.
  const text = `${toText([line("1"), note])}{"type":"us`;
  await writeFile(file(), text);
  expect(await restore()).toEqual([line("1"), note]);
  expect(await readFile(file(), "utf8")).toBe(text);
});

test("a file that went on without anybody hearing of it gives way, and is not thrown away", async () => {
  await store.append("", [line("1")]);
  await writeFile(file(), toText([line("1"), line("2")]));
  expect(await restore()).toEqual([line("1")]);
  expect(await readFile(file(), "utf8")).toBe(toText([line("1")]));
  expect(await readFile(`${file()}.aside`, "utf8")).toBe(toText([line("1"), line("2")]));
});

test("a subagent's transcript lies beside, with its metadata in a file of its own", async () => {
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

test("a path that leads elsewhere is refused", async () => {
  await mkdir(join(folder, "id"));
  await store.append("../../stolen", [line("1")]);
  await expect(restore("../../stolen")).rejects.toThrow("leads elsewhere");
});
