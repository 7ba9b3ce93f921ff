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
  const text = toText([line("1"), note]);
  await writeFile(file(), text);
  expect(await restore()).toEqual([line("1"), note]);
  expect(await readFile(file(), "utf8")).toBe(text);
});

test.each(["end", "middle"])("replaces a file with half a line at its %s, and keeps its notes", async (place) => {
  await store.append("", [line("1")]);
  const note = { type: "cost-state", totalCostUSD: 1 };
  const half = '{"type":"us';
  const [before, after] = [toText([line("1")]), toText([note])];
  await writeFile(file(), place === "end" ? `${before}${after}${half}` : `${before}${half}\n${after}`);
  expect(await restore()).toEqual([line("1"), note]);
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), note]));
});

test("replaces a file with unreported lines, and keeps a backup", async () => {
  await store.append("", [line("1")]);
  await writeFile(file(), toText([line("1"), line("2")]));
  expect(await restore()).toEqual([line("1")]);
  expect(await readFile(file(), "utf8")).toBe(toText([line("1")]));
  expect(await readFile(`${file()}.aside`, "utf8")).toBe(toText([line("1"), line("2")]));
});

test("replaces a file that lacks a line before the last one", async () => {
  await store.append("", [line("1"), line("2"), line("3")]);
  await writeFile(file(), toText([line("1"), line("3")]));
  await restore();
  expect(await readFile(file(), "utf8")).toBe(toText([line("1"), line("2"), line("3")]));
});

test("bridges a gap of the stored transcript, also in a file that has it", async () => {
  const after = { ...line("3"), parentUuid: "2" };
  await store.append("", [line("1"), after]);
  await writeFile(file(), toText([line("1"), after]));
  const bridged = [line("1"), { ...line("3"), parentUuid: "1" }];
  expect(await restore()).toEqual(bridged);
  expect(await readFile(file(), "utf8")).toBe(toText(bridged));
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
