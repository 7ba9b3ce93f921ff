import { Marked, type Token, type Tokens } from "marked";
import { anchorMaker, type DocsPage, plainText, repositoryPath } from "./read-pages.ts";

/** Where a link of a page leads: a path in the site, or undefined if the site does not have that file. */
export type Locate = (file: string) => string | undefined;

export interface RenderedPage {
  html: string;
  /** Second-level headings, for the table of contents. */
  contents: { title: string; anchor: string }[];
}

/** Renders the Markdown of a page. Links between files become links between pages of the site. */
export function renderPage(page: DocsPage, locate: Locate): RenderedPage {
  const contents: RenderedPage["contents"] = [];
  const anchorOf = anchorMaker();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const title = plainText(tokens);
        const anchor = anchorOf(title);
        if (depth === 2) contents.push({ title, anchor });
        const link =
          depth === 1 ? "" : ` <a class="anchor" href="#${anchor}" aria-label="Link to “${escape(title)}”">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = repositoryPath(page.file, href);
        if (!target) return `<a href="${escape(href)}" rel="noreferrer">${text}</a>`;
        const path = locate(target.file);
        // A source file: the site has no copy, so name the file without a link.
        if (path === undefined)
          return `<span class="source" title="${escape(target.file)} in the repository">${text}</span>`;
        return `<a href="${relativePath(page.path, path)}${target.anchor}">${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const target = repositoryPath(page.file, href);
        const path = target && locate(target.file);
        if (path === undefined) throw new Error(`${page.file}: the picture ${href} is missing.`);
        return `<img src="${relativePath(page.path, path)}" alt="${escape(text)}" loading="lazy">`;
      },
      code({ text, lang }: Tokens.Code) {
        const label = lang ? ` data-language="${escape(lang)}"` : "";
        return `<pre tabindex="0"${label}><code>${lang === "console" ? transcript(text) : escape(text)}</code></pre>\n`;
      },
      table(token: Tokens.Table) {
        const cell = (item: Tokens.TableCell, tag: string) =>
          `<${tag}>${this.parser.parseInline(item.tokens)}</${tag}>`;
        const head = token.header.some(({ text }) => text !== "")
          ? `<thead><tr>${token.header.map((item) => cell(item, "th")).join("")}</tr></thead>`
          : "";
        const rows = token.rows.map((row) => `<tr>${row.map((item) => cell(item, "td")).join("")}</tr>`).join("\n");
        return `<div class="table" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  return { html: marked.parser(page.tokens), contents };
}

/** Marks the commands of a terminal transcript, so that they stand out from the output. */
const transcript = (text: string): string =>
  text
    .split("\n")
    .map((line) => (/^[$>] /.test(line) ? `<b>${escape(line)}</b>` : escape(line)))
    .join("\n");

/** Text of a page by section, for the search index. */
export function sectionsOf(page: DocsPage): { heading: string; anchor: string; text: string }[] {
  const sections = [{ heading: "", anchor: "", text: "" }];
  const anchorOf = anchorMaker();
  for (const token of page.tokens) {
    if (token.type === "heading") {
      const heading = plainText((token as Tokens.Heading).tokens);
      const anchor = anchorOf(heading);
      if ((token as Tokens.Heading).depth > 1) sections.push({ heading, anchor, text: "" });
    } else sections.at(-1)!.text += ` ${blockText(token)}`;
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, " ").trim() }));
}

function blockText(token: Token): string {
  if (token.type === "list")
    return (token as Tokens.List).items.map((item) => item.tokens.map(blockText).join(" ")).join(" ");
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((row) => row.map((cell) => plainText(cell.tokens))).join(" ");
  }
  if (token.type === "html" || token.type === "space") return "";
  return plainText([token]);
}

/** The shortest relative address from one page to another, so that the site works under any prefix. */
export function relativePath(from: string, to: string): string {
  const up = "../".repeat(from.split("/").length - 1);
  return up + to;
}

export const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
