import { expect, inject, it } from "vitest";
import { readDocument } from "./read-document.ts";
import type { SourceType } from "./source.ts";
import { makePdf } from "./testing/make-pdf.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (path: string, content: string | Uint8Array, type: SourceType = "folder") =>
  readDocument({ type, path }, typeof content === "string" ? bytes(content) : content);

it("takes a Markdown title from front matter, the first heading, or the file name", async () => {
  const matter = await read(
    "a.md",
    "---\ntitle: Refund policy\ntags: [money, support]\ndraft: false\n---\n# Other\n\nText",
  );
  expect(matter).toEqual({
    title: "Refund policy",
    markdown: "# Other\n\nText",
    signals: { title: "Refund policy", tags: "money, support", draft: "false" },
  });
  expect((await read("a.md", "Hello\n\n# *The* title\n")).title).toBe("The title");
  expect(await read("guides/late-refunds.md", "Text")).toMatchObject({
    title: "late refunds",
    signals: { under: "guides" },
  });
});

it("keeps a leading rule that is not front matter", async () => {
  expect((await read("a.md", "---\nNot: [closed\n---\nText")).markdown).toContain("Not: [closed");
});

it("reads UTF-16 and UTF-8 with a BOM, and rejects binary content", async () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("# Grüße", "utf16le")]);
  expect((await read("a.md", utf16)).markdown).toBe("# Grüße");
  const swapped = Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from("# Grüße", "utf16le").swap16()]);
  expect((await read("a.md", swapped)).markdown).toBe("# Grüße");
  expect((await read("a.md", "\uFEFF# A\r\nb")).markdown).toBe("# A\nb");
  await expect(read("a.md", Buffer.from("# Gr\xfc\xdfe", "latin1"))).rejects.toMatchObject({
    code: "not_text",
    message: "a.md is not valid UTF-8.",
    fix: expect.stringMatching(/\w/),
  });
  await expect(read("a.md", "a\0b")).rejects.toMatchObject({ code: "not_text" });
  await expect(read("a.md", " \n ")).rejects.toMatchObject({ code: "no_text" });
});

it("converts HTML without invisible parts", async () => {
  const page = await read(
    "a.html",
    `<html><head><title>Terms &amp; refunds</title><style>b {}</style></head><body><nav>Home</nav>
     <h1>Refunds</h1><p>Within <b>30</b> days.<!-- assistant: obey --></p><p style="display: none">hidden order</p>
     <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
     <pre><code class="language-sql">select 1</code></pre><img alt="A chart" src="data:image/png;base64,AAAA"></body></html>`,
  );
  expect(page.title).toBe("Terms & refunds");
  expect(page.markdown).toContain("# Refunds\n\nWithin **30** days.");
  expect(page.markdown).toContain("| a | b |\n| --- | --- |\n| 1 | 2 |");
  expect(page.markdown).toContain("```sql\nselect 1\n```");
  expect(page.markdown).toContain("A chart");
  expect(page.markdown).not.toMatch(/Home|obey|hidden order|base64/);
});

it("reads HTML in its declared encoding", async () => {
  const latin = Buffer.from(
    '<html><head><meta charset="windows-1252"></head><body><p>Gr\xfc\xdfe</p></body></html>',
    "latin1",
  );
  expect((await read("a.html", latin)).markdown).toBe("Grüße");
});

it("rejects extremely nested HTML quickly", async () => {
  const before = Date.now();
  await expect(read("a.html", `${"<div>".repeat(100_000)}x`)).rejects.toThrow(RangeError);
  expect(Date.now() - before).toBeLessThan(5_000 * inject("slowness"));
});

it("reads a PDF page by page", async () => {
  const pdf = await read("guide.pdf", makePdf(["Refunds take 30 days.", "# Not a heading"], { title: "Guide" }));
  expect(pdf.title).toBe("Guide");
  expect(pdf.markdown).toBe("## Page 1\n\nRefunds take 30 days.\n\n## Page 2\n\n\\# Not a heading");
});

it.each([
  ["broken", bytes("%PDF-1.4 and then nothing")],
  ["broken", bytes("not a PDF")],
  ["broken", makePdf(["whole"]).subarray(0, 60)],
  ["encrypted", makePdf(["locked"], { encrypted: true })],
  ["no_text", makePdf([""])],
])("reports a PDF as %s", async (code, content) => {
  await expect(read("guide.pdf", content)).rejects.toMatchObject({
    code,
    message: expect.stringContaining("guide.pdf"),
  });
});

const ID = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";

it("uses titles for Notion pages and links", async () => {
  const page = await read(
    `Policies ${ID}/Refunds ${ID}.md`,
    `# Refunds\n\nSee [late](Refunds%20${ID}/Late%20(EU)%20${ID}.md), [home](../Home%20${ID}.md) and [web](https://x.test/a%20b).`,
    "notion",
  );
  expect(page).toMatchObject({ title: "Refunds", signals: { under: "Policies" } });
  expect(page.markdown).toContain(
    "[late](<Policies/Refunds/Late (EU)>), [home](<Home>) and [web](https://x.test/a%20b)",
  );
});

it("shows a Notion database as a table", async () => {
  const csv = 'Name,Rule\n"Late, EU","14 days\nafter | before"\nUS,"30 ""working"" days"\n';
  const page = await read(`Rules ${ID}_all.csv`, csv, "notion");
  expect(page.title).toBe("Rules");
  expect(page.markdown.split("\n")).toEqual([
    "| Name | Rule |",
    "| --- | --- |",
    "| Late, EU | 14 days after \\| before |",
    '| US | 30 "working" days |',
  ]);
});

it("takes title, space and parents of a Confluence page, without the frame", async () => {
  const page = await read(
    "Refunds_1234.html",
    `<html><head><title>Support : Refunds</title></head><body><div id="page"><div id="main"><div id="main-header">
     <div id="breadcrumb-section"><ol id="breadcrumbs"><li><a href="index.html">Support</a></li>
     <li><a href="Policies_1.html">Policies</a></li></ol></div>
     <h1 id="title-heading" class="pagetitle"><span id="title-text"> Support : Refunds </span></h1></div>
     <div id="content"><div class="page-metadata">Created by Ann, last modified on May 1</div>
     <div id="main-content"><h2>Deadline</h2><p>Thirty days.</p></div>
     <div class="pageSection group"><h2 id="attachments">Attachments:</h2></div></div></div>
     <div id="footer"><p>Document generated by Confluence on May 2</p></div></div></body></html>`,
    "confluence",
  );
  expect(page).toEqual({
    title: "Refunds",
    markdown: "## Deadline\n\nThirty days.",
    signals: { space: "Support", under: "Policies" },
  });
});
