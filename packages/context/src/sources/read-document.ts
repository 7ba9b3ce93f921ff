import { basename, dirname, extname } from "node:path";
import { parse } from "yaml";
import { TandemError } from "@tandem/protocol";
import { csvTable } from "./csv.ts";
import { decodeText } from "./decode-text.ts";
import { notionPath, notionTitle, resolveNotionLinks } from "./notion.ts";
import { pdfToMarkdown } from "./pdf-to-markdown.ts";
import type { Document, SourceType } from "./source.ts";
import { sqlDocument } from "./sql/sql-document.ts";

type Form = "markdown" | "text" | "html" | "pdf" | "csv" | "sql";

const FORMS: Readonly<Record<string, Form>> = {
  ".md": "markdown",
  ".markdown": "markdown",
  ".mdx": "markdown",
  ".txt": "text",
  ".text": "text",
  ".rst": "text",
  ".adoc": "text",
  ".html": "html",
  ".htm": "html",
  ".pdf": "pdf",
  ".csv": "csv",
  ".sql": "sql",
};

const READ_FORMS: Readonly<Record<SourceType, readonly Form[]>> = {
  folder: ["markdown", "text", "html", "pdf"],
  notion: ["markdown", "html", "csv", "pdf"],
  confluence: ["html", "pdf"],
  sql: ["sql"],
  dbt: [],
  queries: [],
  text: [],
};

const formOf = (path: string): Form | undefined => FORMS[extname(path).toLowerCase()];

/** Whether the source reads this file as a document. */
export function isDocument(type: SourceType, path: string): boolean {
  const form = formOf(path);
  return form !== undefined && READ_FORMS[type].includes(form);
}

/** Converts an item to Markdown, deterministically. Rejects with a one-sentence `TandemError` if it has no text. */
export async function readDocument(
  { type, path, title }: { type: SourceType; path: string; title?: string },
  bytes: Uint8Array,
): Promise<Document> {
  const document = await readForm(type, path, title, bytes);
  if (document.markdown.trim() === "") {
    throw new TandemError("no_text", `${path} has no text in it.`, { fix: "Leave it out with `exclude`." });
  }
  return document;
}

async function readForm(
  type: SourceType,
  path: string,
  given: string | undefined,
  bytes: Uint8Array,
): Promise<Document> {
  // Dbt projects, query history and pasted text already provide Markdown, whatever their paths.
  const form = type === "dbt" || type === "queries" || type === "text" ? "markdown" : (formOf(path) ?? "markdown");
  const place = type === "notion" ? notionPath(path) : path;
  const title = given ?? (type === "notion" ? notionTitle(path) : titleOfPath(path));
  const under: Record<string, string> = dirname(place) === "." ? {} : { under: dirname(place) };
  switch (form) {
    case "markdown": {
      const document = readMarkdown(decodeText(bytes, path), title, given !== undefined);
      const markdown = type === "notion" ? resolveNotionLinks(document.markdown, path) : document.markdown;
      return { ...document, markdown, signals: { ...under, ...document.signals } };
    }
    case "text":
      return { title, markdown: decodeText(bytes, path), signals: under };
    case "html": {
      // Imported on demand: slow to load, and most folders have no HTML.
      const [{ decodeHtml, htmlToMarkdown }, { confluencePage }] = await Promise.all([
        import("./html-to-markdown.ts"),
        import("./confluence.ts"),
      ]);
      const html = decodeHtml(bytes, path);
      if (type === "confluence") return confluencePage(html, title);
      const page = htmlToMarkdown(html);
      const markdown = type === "notion" ? resolveNotionLinks(page.markdown, path) : page.markdown;
      return { title: page.title || firstHeading(markdown) || title, markdown, signals: under };
    }
    case "pdf": {
      const pdf = await pdfToMarkdown(bytes, path);
      return { title: pdf.title || title, markdown: pdf.markdown, signals: under };
    }
    case "csv":
      return { title, markdown: csvTable(decodeText(bytes, path)), signals: { ...under, kind: "database" } };
    case "sql":
      return { ...sqlDocument(decodeText(bytes, path), title), title };
  }
}

const FRONT_MATTER = /^---\n([\s\S]{0,20000}?)\n---[ \t]*(?:\n|$)/;

/** Front matter is metadata; a Markdown parser would read it as a heading. */
function readMarkdown(text: string, fallback: string, isGiven: boolean): Document {
  const matter = FRONT_MATTER.exec(text);
  const facts = matter ? factsIn(matter[1]!) : undefined;
  const markdown = facts ? text.slice(matter![0].length) : text;
  const title = isGiven ? fallback : facts?.["title"] || firstHeading(markdown) || fallback;
  return { title, markdown, signals: facts ?? {} };
}

/** Plain entries of front matter; undefined if it is not front matter. */
function factsIn(matter: string): Record<string, string> | undefined {
  let parsed: unknown;
  try {
    parsed = parse(matter);
  } catch {
    return undefined;
  }
  if (parsed === null) return {};
  if (typeof parsed !== "object" || Array.isArray(parsed)) return undefined;
  const entries = Object.entries(parsed).flatMap(([key, value]): [string, string][] => {
    const plain = (Array.isArray(value) ? value : [value]).filter(
      (each) => typeof each === "string" || typeof each === "number" || typeof each === "boolean",
    );
    return plain.length > 0 ? [[key.slice(0, 40), plain.join(", ").slice(0, 200)]] : [];
  });
  return Object.fromEntries(entries.slice(0, 20));
}

function firstHeading(markdown: string): string {
  const heading = /^#[ \t]+(.+)$/m.exec(markdown.slice(0, 5_000))?.[1] ?? "";
  return heading.replaceAll(/[*_`#]/g, "").trim();
}

const titleOfPath = (path: string): string =>
  basename(path, extname(path)).replaceAll(/[-_]+/g, " ").trim() || basename(path);
