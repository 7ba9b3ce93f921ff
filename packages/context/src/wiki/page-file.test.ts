import { describe, expect, it } from "vitest";
import { parseMemory, renderMemory } from "../formats/memory-file.ts";
import { checkPage, citationsIn } from "./check-page.ts";
import { isPageKey, pageKeyFrom, parsePage, renderPage, type PageFile } from "./page-file.ts";

const page: PageFile = {
  key: "refunds",
  title: "Refunds",
  summary: "When money goes back: within 30 days.",
  tags: ["billing"],
  refs: ["page:orders", "table:shop/public.refunds"],
  sources: [{ citation: "handbook/refunds#policy", path: "handbook/refunds.md", sha256: "ab" }],
  body: "# Refunds\n\nWithin 30 days.[^handbook/refunds#policy]\n",
};

describe("a page", () => {
  it("round-trips", () => {
    const parsed = parsePage("refunds", renderPage(page));
    expect(parsed).toMatchObject({ success: true, page: { ...page, body: `\n${page.body}` } });
  });

  it("keeps a person's keys, comments, quotes, order and CRLF", () => {
    const text = [
      "---",
      "# Ours since 2019",
      "owner:   'Finance team'   # ask first",
      "summary: Old words",
      "tags: [ billing,   money ]",
      "---",
      "",
      "# Rückgabe",
      "",
      "退款 nach 30 Tagen",
      "",
    ].join("\r\n");
    const parsed = parsePage("refunds", text);
    if (!parsed.success) throw new Error("It should be read.");
    expect(parsed.page).toMatchObject({ title: "Rückgabe", tags: ["billing", "money"], summary: "Old words" });
    const next = renderPage({ ...parsed.page, summary: "New words" }, text);
    expect(next).toBe(
      text.replace("Old words", "New words").replace("money ]\r\n", "money ]\r\nrefs: []\r\nsources: []\r\n"),
    );
    expect(renderPage(parsed.page, next.replace("New", "Old"))).toBe(next.replace("New", "Old"));
  });

  it("may be plain Markdown", () => {
    const text = "Just notes.\n\n---\n\nAnd more\n";
    expect(parsePage("notes", text)).toMatchObject({
      success: true,
      page: { title: "notes", summary: "", tags: [], body: text },
      bodyLine: 1,
    });
  });

  it("reports front matter problems with their place", () => {
    const wrong = parsePage("x", "---\nsummary: fine\ntags: billing\n---\n");
    expect(wrong).toMatchObject({
      success: false,
      problems: [{ type: "bad_front_matter", line: 3, message: /^Tags: / }],
    });
    const broken = parsePage("x", '---\nsummary: fine\nrefs: ["a"\n---\n');
    expect(broken).toMatchObject({ success: false, problems: [{ type: "bad_front_matter", line: 4 }] });
  });

  it("reports unknown references and citations", () => {
    const body = "# R\n\nA[^one] b[^two] `[^code]` c[^two]\n\n```\n[^fenced]\n```\n[^three]\n";
    expect(citationsIn(body, 10)).toEqual([
      { citation: "one", line: 12 },
      { citation: "two", line: 12 },
      { citation: "two", line: 12 },
      { citation: "three", line: 17 },
    ]);
    const sources = ["one", "three"].map((citation) => ({ citation, path: "p", sha256: "s" }));
    const refs = ["page:orders", "page:gone", "table:shop/public.t", "orders"];
    const problems = checkPage({ ...page, body, sources, refs }, 10, {
      page: (key) => key === "orders",
      table: (name) => name === "shop/public.t",
      citation: (key) => key === "one",
    });
    expect(problems.map(({ type, line, message }) => [type, line, message])).toEqual([
      ["unknown_ref", undefined, "There is no page gone, to which a ref leads."],
      ["unknown_ref", undefined, expect.stringContaining('"orders" is neither')],
      ["unknown_citation", 12, "[^two] is not among the page's sources."],
      ["unknown_citation", 17, "There is no passage three in any source."],
    ]);
  });

  it("has a key for any title, in any language", () => {
    expect(pageKeyFrom("Rückgabe & Umtausch")).toBe("rückgabe-umtausch");
    expect(pageKeyFrom("Billing / Refunds (EU)")).toBe("billing/refunds-eu");
    expect(pageKeyFrom("退款政策")).toBe("退款政策");
    expect(pageKeyFrom("../../etc")).toBe("etc");
    expect(pageKeyFrom("!!!")).toBeUndefined();
    expect(["refunds", "billing/eu-2", "退款"].every(isPageKey)).toBe(true);
    expect(["Refunds", "a b", "../x", "/x", "x/", "a--b", ""].some(isPageKey)).toBe(false);
  });
});

describe("a memory", () => {
  it("round-trips, and keeps a person's additions", () => {
    const memory = {
      id: "mem_1",
      scope: "project" as const,
      tags: [],
      createdAt: "2026-01-01T00:00:00Z",
      expiresAt: null,
      sources: [{ type: "person" as const, name: "Ann", at: "2026-01-01T00:00:00Z", quote: 'EUR, always: no "$"' }],
      contradicts: [],
      text: "Amounts are in euros.",
    };
    const text = renderMemory(memory);
    expect(parseMemory(text)).toEqual({ success: true, memory });
    const touched = text.replace("scope: project", "scope: project # not mine\nmine: yes");
    const next = renderMemory({ ...memory, text: "Amounts are in cents." }, touched);
    expect(next).toBe(touched.replace("euros", "cents"));
    expect(parseMemory("Amounts")).toMatchObject({ success: false });
  });
});
