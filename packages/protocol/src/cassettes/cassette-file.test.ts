import { expect, test } from "vitest";
import type { Cassette } from "./cassette.ts";
import { formatCassette, parseCassette } from "./cassette-file.ts";
import { markPaths, unmarkPaths } from "./mark-paths.ts";
import { maskText } from "./normalise-steps.ts";

const CASSETTE: Cassette = {
  header: {
    tandem_cassette: 1,
    session_id: "sesn_1",
    title: null,
    created_at: "2026-01-01T00:00:00Z",
    exported_at: "2026-01-01T00:00:00Z",
    tandem_version: "0.2.0",
    claude_code_version: null,
    platform: "linux x64",
    sandbox: false,
    agent: {
      name: "tester",
      description: null,
      model: { id: "claude-sonnet-5-5" },
      system: null,
      tools: [],
      mcp_servers: [],
      skills: [],
      multiagent: null,
    },
    settings: {},
    permission_mode: "default",
    rules: [],
    budget: null,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    usd: 0,
  },
  steps: [
    { step: 1, kind: "input", seq: 1, event: { type: "user.message", content: [{ type: "text", text: "Hello." }] } },
    { step: 2, kind: "idle", seq: 2, stop_reason: "end_turn", usd: 0 },
  ],
  events: [],
  folder: {
    type: "bundle",
    before: { tree: "a", files: 1 },
    after: { tree: "b", files: 1 },
    redacted: [],
    bundle: "QUJD".repeat(1_000),
  },
};

test("a file has one object per line and reads back", () => {
  const file = formatCassette(CASSETTE);
  expect(parseCassette(file)).toEqual(CASSETTE);
  expect(file.split("\n")[1]).toBe(
    '{"step":1,"kind":"input","seq":1,"event":{"type":"user.message","content":[{"type":"text","text":"Hello."}]}}',
  );
});

test("damaged, cut and newer files are named by line and reason", () => {
  const file = formatCassette(CASSETTE);
  const problem = (text: string): string => {
    try {
      parseCassette(text);
      return "none";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  expect(problem("")).toBe("The file is not a cassette: its first line has no `tandem_cassette`.");
  expect(problem("hello\n")).toBe("The file is not a cassette: its first line has no `tandem_cassette`.");
  expect(problem(file.replace('"tandem_cassette":1', '"tandem_cassette":2'))).toBe(
    "The cassette has format 2. This version of Tandem reads format 1.",
  );
  expect(problem(file.replace('"step":2', '"step":3'))).toBe(
    "Line 3 of the cassette is damaged: expected step 2, found step 3.",
  );
  expect(problem(file.replace('"kind":"idle"', '"kind":"idel"'))).toMatch(/^Line 3 of the cassette is damaged: kind: /);
  expect(problem(file.slice(0, -200))).toMatch(/^Line \d+ of the cassette is damaged: it is not a JSON object\.$/);
  const lines = file.trimEnd().split("\n");
  expect(problem(lines.slice(0, -1).join("\n"))).toMatch(/the file ends too early/);
  expect(problem(lines.filter((_line, index) => index !== 5).join("\n"))).toMatch(
    /counts 4 lines of data, the file has 3/,
  );
});

test("the folders of a session are marked in texts, and longer names are not", () => {
  const texts = ["/w/app", "/w/app/a.ts", "in /w/app.", "/w/app-2", "/x/w/app", "/w/app.old", '"/w/app"', "/p/plans/a"];
  const marked = markPaths(texts, { folder: "/w/app", plans: "/p/plans" });
  expect(marked).toEqual([
    "<session-folder>",
    "<session-folder>/a.ts",
    "in <session-folder>.",
    "/w/app-2",
    "/x/w/app",
    "/w/app.old",
    '"<session-folder>"',
    "<plans-folder>/a",
  ]);
  const other = unmarkPaths(marked, { folder: "/y", plans: "/z" });
  expect([...other.slice(0, 2), other.at(-1)]).toEqual(["/y", "/y/a.ts", "/z/a"]);
});

test("results of real tools are compared without dates, durations, ids, ports and temporary paths", () => {
  expect(maskText("2026-01-02T03:04:05.678Z took 12.5 ms at http://127.0.0.1:40123/a")).toBe(
    "<date> took <duration> at http://127.0.0.1:<port>/a",
  );
  expect(maskText("-rw-r--r-- 1 me me 5 Nov 18 08:00 a.txt")).toBe("-rw-r--r-- 1 me me 5 <date> a.txt");
  expect(maskText("real\t0m1.234s in /tmp/claude-1000/x.txt, id 123e4567-e89b-12d3-a456-426614174000")).toBe(
    "real\t<duration> in <temporary-path>, id <id>",
  );
  expect(maskText("version 1.2.3, 5 files, <session-folder>/tmp/a")).toBe(
    "version 1.2.3, 5 files, <session-folder>/tmp/a",
  );
});
