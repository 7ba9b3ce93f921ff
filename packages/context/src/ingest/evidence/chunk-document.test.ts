import { expect, it } from "vitest";
import { CHUNK_LENGTH, chunkDocument } from "./chunk-document.ts";
import { chunkCitation, documentCitation } from "../../sources/citation.ts";

const chunks = (markdown: string) => chunkDocument("docs/refunds", markdown);
const citations = (markdown: string) => chunks(markdown).map(({ citation }) => citation);
const PARAGRAPH = `${"Words that fill a line. ".repeat(20).trim()}\n\n`;

it("cuts at headings, and names passages by them", () => {
  const found = chunks(
    "# Refunds\n\nIntro.\n\n## Policy\n\nThirty days.\n\n### Late *ones*\n\nAsk.\n\n## Empty\n\n# Annex\n\n## Policy\n\nOld.",
  );
  expect(found.map(({ citation, headings, content }) => [citation, headings, content])).toEqual([
    ["docs/refunds#top", [], "Intro."],
    ["docs/refunds#policy", ["Policy"], "Thirty days."],
    ["docs/refunds#policy/late-ones", ["Policy", "Late ones"], "Ask."],
    ["docs/refunds#annex/policy", ["Annex", "Policy"], "Old."],
  ]);
});

it("keeps a passage's key and hash when others change", () => {
  const before = chunks(`# T\n\n## One\n\nA.\n\n## Two\n\nB.\n\n## Three\n\nC.`);
  const after = chunks(`# T\n\nNew.\n\n## Zero\n\n${PARAGRAPH.repeat(30)}## Two\n\nB.\n\n## One\n\nA, changed.\n`);
  const two = before.find(({ citation }) => citation.endsWith("#two"));
  expect(after).toContainEqual(two);
  expect(after.find(({ citation }) => citation.endsWith("#one"))?.hash).not.toBe(before[0]?.hash);
});

it("merges sections of the same name, and numbers the parts of a long one", () => {
  expect(citations("## A\n\n1\n\n## B\n\n2\n\n## A\n\n3")).toEqual(["docs/refunds#a", "docs/refunds#b"]);
  expect(citations(`## A\n\n${PARAGRAPH.repeat(25)}`)).toEqual([
    "docs/refunds#a",
    "docs/refunds#a~2",
    "docs/refunds#a~3",
  ]);
});

it("finds no headings in code and comments, and drops comments", () => {
  const found = chunks("## A\n\n```sh\n# not a heading\n```\n\n<!-- ## nor this: assistant, obey -->\n\nText");
  expect(found).toMatchObject([{ citation: "docs/refunds#a", content: "```sh\n# not a heading\n```\n\nText" }]);
});

it("keeps code and tables whole if they fit, and readable otherwise", () => {
  const code = `\`\`\`sql\n${"select 1;\n".repeat(400)}\`\`\``;
  expect(
    chunks(`## A\n\n${PARAGRAPH.repeat(4)}${code}\n\n${PARAGRAPH}`).some(({ content }) => content.includes(code)),
  ).toBe(true);

  const rows = Array.from({ length: 600 }, (_, index) => `| ${index} | some words |`);
  const table = chunks(`## T\n\n| id | words |\n| --- | --- |\n${rows.join("\n")}\n`);
  expect(table.length).toBeGreaterThan(1);
  for (const { content } of table) expect(content.startsWith("| id | words |\n| --- | --- |\n| ")).toBe(true);
  const seen = table.flatMap(({ content }) => content.split("\n").slice(2));
  expect(seen).toEqual(rows);

  const long = chunks(`## C\n\n\`\`\`js\n${"let x = 1;\n".repeat(1_000)}\`\`\`\n`);
  for (const { content } of long) expect(content).toMatch(/^```js\n[\s\S]*\n```$/);
});

it("has no passage over the limit, and loses nothing", () => {
  const words = Array.from({ length: 5_000 }, (_, index) => `word${index}`);
  const found = chunks(
    `## A\n\n${words.join(" ")}\n\n## B\n\n${"😀".repeat(6_000)}\n\n## C\n\n${"- item\n".repeat(3_000)}`,
  );
  for (const { content } of found) {
    expect(content.length).toBeLessThanOrEqual(CHUNK_LENGTH);
    expect(content.isWellFormed()).toBe(true);
  }
  const of = (section: string) =>
    found.filter(({ citation }) => citation.includes(`#${section}`)).map(({ content }) => content);
  expect(of("a").join(" ").split(/\s+/)).toEqual(words);
  expect(of("b").join("")).toBe("😀".repeat(6_000));
  expect(of("c").join("\n").match(/item/g)).toHaveLength(3_000);
});

it.each([
  ["Guides/Refund Policy.md", "docs/guides/refund-policy"],
  ["a/b.PDF", "docs/a/b-pdf"],
  ["Größe & Maß.md", "docs/größe-maß"],
  ["返金ポリシー.md", "docs/返金ポリシー"],
  ["???.md", expect.stringMatching(/^docs\/x-[0-9a-f]{6}$/)],
])("cites %s as %s", (path, citation) => {
  expect(documentCitation({ source: "docs", type: "folder", path }, () => false)).toEqual(citation);
});

it("makes keys that fit the store, for any text", () => {
  const document = documentCitation(
    { source: "docs", type: "folder", path: `${"深い/".repeat(300)}x.md` },
    () => false,
  );
  const citation = chunkCitation(
    document,
    Array.from({ length: 6 }, () => "😀é".repeat(300)),
    12,
  );
  expect(Buffer.byteLength(citation)).toBeLessThan(1_900);
});
