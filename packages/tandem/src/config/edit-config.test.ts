import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { editConfig } from "./edit-config.ts";

const FILE = `# Tandem
llm:
    provider:
        backend:   "anthropic"   # who answers

        # anthropic:
        #     apiKey: env:OTHER
    models:
        default: sonnet


        triage:  haiku          # cheap
    limits: { attempts: 3 }   # inline
    pool:
        # size: 3
# the end
`;

describe("editing a config", () => {
  test("changes one value and no other byte", () => {
    const edited = editConfig(FILE, [{ path: "llm.provider.backend", value: "claude-code" }]);
    expect(edited).toBe(FILE.replace('"anthropic"', "claude-code"));
  });

  test("a new key goes to the end of its section, at its indentation", () => {
    const edited = editConfig(FILE, [{ path: "llm.models.repair", value: "opus" }]);
    expect(edited).toBe(FILE.replace("# cheap\n", "# cheap\n        repair: opus\n"));
  });

  test("creates a missing section", () => {
    const edited = editConfig(FILE, [{ path: "llm.promptCaching.enabled", value: false }]);
    expect(edited.split("\n").filter((line) => !FILE.includes(line))).toEqual([
      "    promptCaching:",
      "      enabled: false",
    ]);
    expect(parse(edited)).toMatchObject({ llm: { promptCaching: { enabled: false }, models: { triage: "haiku" } } });
  });

  test("a new top-level section goes after the last comment", () => {
    const edits = [
      { path: "connections.shop.driver", value: "sqlite" },
      { path: "connections.shop.path", value: "shop.sqlite" },
    ];
    const added = "connections:\n  shop:\n    driver: sqlite\n    path: shop.sqlite\n";
    expect(editConfig(FILE, edits)).toBe(`${FILE}${added}`);
    const commented = "llm:\n  provider:\n    backend: claude-code\n# models:\n#   default: opus";
    expect(editConfig(commented, edits)).toBe(`${commented}\n${added}`);
  });

  test("fills a section that contains only comments", () => {
    const edited = editConfig(FILE, [{ path: "llm.pool.size", value: 2 }]);
    expect(edited).toBe(FILE.replace("    pool:\n", "    pool:\n      size: 2\n"));
  });

  test("edits an inline section and keeps its comments", () => {
    const edited = editConfig(FILE, [{ path: "llm.limits.idle", value: "1m" }]);
    expect(parse(edited)).toMatchObject({ llm: { limits: { attempts: 3, idle: "1m" } } });
    for (const comment of FILE.match(/#.*/g)!) expect(edited).toContain(comment);
  });

  test("changing one setting never drops another", () => {
    const before = parse(FILE) as object;
    const edits = [
      { path: "llm.provider.backend", value: "vertex" },
      { path: "llm.provider.vertex.project", value: "my-project" },
      { path: "llm.models.default", value: "opus" },
    ];
    const after = parse(editConfig(FILE, edits));
    expect(after).toMatchObject({
      ...before,
      llm: {
        provider: { backend: "vertex", vertex: { project: "my-project" } },
        models: { default: "opus", triage: "haiku" },
        limits: { attempts: 3 },
      },
    });
  });

  test("an unchanged value leaves the text as it is", () => {
    expect(editConfig(FILE, [{ path: "llm.models.triage", value: "haiku" }])).toBe(FILE);
    expect(editConfig(FILE, [{ path: "llm.models.curator", value: undefined }])).toBe(FILE);
  });

  test("removing a key removes its line", () => {
    const edited = editConfig(FILE, [{ path: "llm.models.triage", value: undefined }]);
    expect(edited).toBe(FILE.replace("        triage:  haiku          # cheap\n", ""));
  });

  test.each(["", "# only a comment", "llm:", "llm:\n", "---\n", "{}\n", "llm: {}\n", "llm: ~\n"])(
    "works on %j",
    (source) => {
      const edited = editConfig(source, [
        { path: "llm.provider.backend", value: "gateway" },
        { path: "llm.models.default", value: "opus" },
      ]);
      expect(parse(edited)).toEqual({ llm: { provider: { backend: "gateway" }, models: { default: "opus" } } });
      expect(edited.match(/#.*/g)).toEqual(source.match(/#.*/g));
    },
  );

  test("values that YAML would read as something else are quoted", () => {
    const edited = editConfig("", [
      { path: "a", value: "true" },
      { path: "b", value: "12" },
      { path: "c", value: "x: # y" },
    ]);
    expect(parse(edited)).toEqual({ a: "true", b: "12", c: "x: # y" });
  });

  const ROOTS = "sessions:\n  roots: # where\n    - a\n    - b # second\n\n  idle: 1m\n";

  test.each([
    ["sessions: {}\n", ["."], { sessions: { roots: ["."] } }],
    ["sessions:\n  roots: [a, b] # where\n", ["c"], { sessions: { roots: ["c"] } }],
    [ROOTS, ["c", "d, e"], { sessions: { roots: ["c", "d, e"], idle: "1m" } }],
    [ROOTS, undefined, { sessions: { idle: "1m" } }],
    ["", [], { sessions: { roots: [] } }],
  ])("a list in %j becomes %j", (source, value, expected) => {
    expect(parse(editConfig(source, [{ path: "sessions.roots", value }]))).toEqual(expected);
  });

  test("a list is written inline, and an unchanged list keeps its layout", () => {
    const edited = editConfig("sessions:\n  idle: 1m # short\n", [{ path: "sessions.roots", value: ["a", "b"] }]);
    expect(edited).toBe("sessions:\n  idle: 1m # short\n  roots: [a, b]\n");
    expect(editConfig(ROOTS, [{ path: "sessions.roots", value: ["a", "b"] }])).toBe(ROOTS);
    expect(editConfig(ROOTS, [{ path: "sessions.roots", value: ["a"] }])).toContain("\n\n  idle: 1m\n");
  });

  test("changing an alias leaves the anchored value unchanged", () => {
    const edited = editConfig("llm:\n  models:\n    default: &m opus\n    triage: *m\n", [
      { path: "llm.models.triage", value: "haiku" },
    ]);
    expect(parse(edited)).toEqual({ llm: { models: { default: "opus", triage: "haiku" } } });
  });
});
