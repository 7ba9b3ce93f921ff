import { describe, expect, it } from "vitest";
import { applyHunks } from "./apply-hunks.ts";
import { makeChange } from "./make-hunks.ts";
import type { Aspect, Draft, Support } from "../draft.ts";

const source = { type: "source" as const, source: "handbook", path: "h.md", sha256: "s", citation: "h#1" };
const seen = { type: "database" as const, connection: "shop", table: "public.t", finding: "as it is" };
const model = { type: "model" as const, model: "m", role: "curator" };
const rest = (from: number, to: number, aspect: Aspect, ...evidence: Support["evidence"]): Support => ({
  from,
  to,
  aspect,
  evidence,
});

function change(draft: Omit<Draft, "path"> & { path?: string }) {
  const made = makeChange({ path: "wiki/a.md", ...draft });
  return { ...made, after: draft.after, hunks: made.hunks.map((hunk, index) => ({ ...hunk, id: String(index + 1) })) };
}

describe("makeChange", () => {
  it("groups neighbouring lines, with evidence per line", () => {
    const { hunks, evidence } = change({
      before: "# A\n\none\ntwo\n",
      after: "# A\n\nONE\ntwo\n\nthree\nfour\n",
      support: [rest(3, 3, "wiki", source), rest(6, 6, "wiki", source, model), rest(7, 7, "wiki", seen)],
    });
    expect(hunks).toMatchObject([
      { oldStart: 3, oldLines: ["one"], newStart: 3, newLines: ["ONE"], support: [[0]], aspect: "wiki" },
      { oldStart: 5, oldLines: [], newStart: 5, newLines: ["", "three", "four"], support: [[0, 1], [0, 1], [2]] },
    ]);
    expect(evidence).toEqual([source, model, seen]);
  });

  it("splits lines about different subjects, also in replacements", () => {
    const { hunks } = change({
      path: "catalogue/shop/public.t.yaml",
      before: "rows: 1\ndescription: old\nkey: [a]\n",
      after: "rows: 2\ndescription: new\nkey: [a, b]\n",
      support: [rest(1, 1, "profile", seen), rest(2, 2, "description", seen, model), rest(3, 3, "structure", seen)],
    });
    expect(hunks.map(({ aspect, oldLines, newLines }) => [aspect, oldLines, newLines])).toEqual([
      ["profile", ["rows: 1"], ["rows: 2"]],
      ["description", ["description: old"], ["description: new"]],
      ["structure", ["key: [a]"], ["key: [a, b]"]],
    ]);
  });

  it("splits a new file; keys without a value belong to the lines below", () => {
    const { hunks } = change({
      path: "catalogue/shop/public.t.yaml",
      before: null,
      after: "table: t\ndescriptions:\n  ai: words\ncolumns:\n  - name: a\n",
      support: [rest(1, 1, "structure", seen), rest(3, 3, "description", seen), rest(5, 5, "structure", seen)],
    });
    expect(hunks.map(({ aspect, newLines }) => [aspect, newLines.length])).toEqual([
      ["structure", 1],
      ["description", 2],
      ["structure", 2],
    ]);
  });

  it("keeps inseparable lines together under the stricter aspect", () => {
    const support = [rest(1, 1, "structure", seen), rest(2, 2, "memory", source)];
    const { hunks } = change({ before: "x y z\n", after: "a b\nc d\n", support });
    expect(hunks).toMatchObject([{ aspect: "memory", oldLines: ["x y z"], newLines: ["a b", "c d"] }]);
  });

  it("rejects a line without evidence, or with only a model's judgement, and names it", () => {
    const after = "# A\n\nTrue.\nMade up.\n";
    const support = [rest(1, 3, "wiki", source)];
    const why = 'Line 4 of wiki/a.md rests on nothing: "Made up.".';
    expect(() => change({ before: null, after, support })).toThrow(why);
    expect(() => change({ before: null, after, support: [...support, rest(4, 4, "wiki", model)] })).toThrow(why);
    expect(() => change({ before: "keep\ngo\n", after: "keep\n", support: [] })).toThrow(
      "Line 2 of wiki/a.md would go for no reason",
    );
    const removal = [rest(2, 2, "wiki", source)];
    expect(change({ before: "keep\ngo\n", after: "keep\n", support: [], removal }).hunks).toMatchObject([
      { removal: [0] },
    ]);
  });

  it("recognises the same change elsewhere in the file and in other layout, but not under another key", () => {
    const draft = (before: string, indent = "      ") => {
      const lines = before.split("\n");
      const at = lines.findIndex((line) => line.includes("HERE"));
      const after = lines.with(at, `${indent}ai: An id`).join("\n");
      const old = lines.toSpliced(at, 1).join("\n");
      return change({
        path: "catalogue/s/t.yaml",
        before: old,
        after,
        support: [rest(at + 1, at + 1, "description", seen)],
      }).hunks[0]!.fingerprint;
    };
    const a = draft("columns:\n  - name: a\n    descriptions:\n      HERE\n  - name: b\n");
    expect(draft("rows: 5\ncolumns:\n  - name: z\n  - name: a\n    descriptions:\n      HERE\n")).toBe(a);
    expect(draft("columns:\n  - name: a\n    descriptions:\n        HERE\n", "        ")).toBe(a);
    expect(draft("columns:\n  - name: b\n    descriptions:\n      HERE\n")).not.toBe(a);
  });

  it("recognises a join independent of its measurements", () => {
    const draft = (to: string, measured: string) =>
      makeChange({
        path: "catalogue/shop/main.orders.yaml",
        before: "columns: []\n",
        after: `columns: []\njoins:\n  - columns: [buyer]\n    to: ${to}\n${measured}`,
        support: [rest(1, 9, "join", seen)],
      }).hunks[0]!.fingerprint;
    const a = draft("main.people", "    confidence: 0.5\n    why: All 50 values are found there.\n");
    expect(draft("main.people", "    confidence: 0.6\n    why: All 51 values are found there.\n")).toBe(a);
    expect(draft("main.places", "    confidence: 0.5\n    why: All 50 values are found there.\n")).not.toBe(a);
  });
});

describe("applyHunks", () => {
  const draft = { before: "a\nb\nc\nd\n", after: "A\nb\nb2\nb3\nc\nD\n", support: [rest(1, 9, "wiki", source)] };

  it("applies some hunks, then others, around a person's edits", () => {
    const made = change(draft);
    const first = applyHunks(made, new Set(["2"]), "a\nb\nc\nd\n");
    expect(first.text).toBe("a\nb\nb2\nb3\nc\nd\n");
    const accepted = {
      ...made,
      hunks: made.hunks.map((hunk) => (hunk.id === "2" ? { ...hunk, state: "accepted" as const } : hunk)),
    };
    const then = applyHunks(accepted, new Set(["1", "3"]), "zero\na\nb\nb2!\nb3\nc\nd\n");
    expect(then).toEqual({
      text: "zero\nA\nb\nb2!\nb3\nc\nD\n",
      outcomes: new Map([
        ["1", "applied"],
        ["3", "applied"],
      ]),
    });
  });

  it("skips lines that a person changed, and reports it", () => {
    const { text, outcomes } = applyHunks(change(draft), new Set(["1", "3"]), "a, she said\nb\nc\nd\n");
    expect(text).toBe("a, she said\nb\nc\nD\n");
    expect([...outcomes.values()]).toEqual(["conflict", "applied"]);
  });

  it("combines parts of a new file in any order", () => {
    const made = change({
      path: "catalogue/s/t.yaml",
      before: null,
      after: "table: t\ndescriptions:\n  ai: words\ncolumns: [a]\n",
      support: [rest(1, 1, "structure", seen), rest(2, 3, "description", seen), rest(4, 4, "structure", seen)],
    });
    const first = applyHunks(made, new Set(["1", "3"]), null);
    expect(first.text).toBe("table: t\ncolumns: [a]\n");
    const hunks = made.hunks.map((hunk) => (hunk.id === "2" ? hunk : { ...hunk, state: "accepted" as const }));
    expect(applyHunks({ ...made, hunks }, new Set(["2"]), first.text).text).toBe(made.after);
  });

  it("removes a file, but keeps it if a person added a line", () => {
    const gone = change({ before: "a\nb\n", after: null, support: [], removal: [rest(1, 9, "wiki", source)] });
    expect(applyHunks(gone, new Set(["1"]), "a\nb\n").text).toBeNull();
    expect(applyHunks(gone, new Set(["1"]), "a\nb\nmine\n").text).toBe("mine\n");
    expect(applyHunks(gone, new Set(["1"]), null).text).toBeNull();
  });
});
