import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { marked, type Token, type Tokens } from "marked";

/** A Markdown file that becomes a page of the docs site. */
export interface DocsPage {
  /** Path in the repository: `docs/guides/rules.md`. */
  file: string;
  /** Path in the site: `guides/rules.html`. */
  path: string;
  title: string;
  tokens: Token[];
}

/**
 * All Markdown files of `docs/`, and the Markdown files outside it that they link to, such as SECURITY.md. A page outside
 * `docs/` is under `project/` in the site.
 */
export function readPages(root: string): DocsPage[] {
  const queue = globSync("docs/**/*.md", { cwd: root }).sort();
  const pages = new Map<string, DocsPage>();
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (pages.has(file)) continue;
    const tokens = marked.lexer(readFileSync(join(root, file), "utf8"));
    const heading = tokens.find((token): token is Tokens.Heading => token.type === "heading");
    pages.set(file, { file, path: sitePath(file), title: plainText(heading?.tokens ?? []) || file, tokens });
    for (const href of linksOf(tokens)) {
      const target = repositoryPath(file, href);
      if (target?.file.endsWith(".md") && existsSync(join(root, target.file))) queue.push(target.file);
    }
  }
  return [...pages.values()];
}

const sitePath = (file: string): string =>
  (file.startsWith("docs/") ? file.slice("docs/".length) : `project/${file}`)
    .replace(/README\.md$/, "index.html")
    .replace(/\.md$/, ".html");

/** The file and anchor that a link in `from` leads to; undefined for addresses outside the repository. */
export function repositoryPath(from: string, href: string): { file: string; anchor: string } | undefined {
  if (/^[a-z]+:/i.test(href)) return undefined;
  const [path = "", anchor] = href.split("#");
  const file = path === "" ? from : normalize(join(dirname(from), path)).replace(/\/$/, "");
  return { file, anchor: anchor === undefined ? "" : `#${anchor}` };
}

function linksOf(tokens: Token[]): string[] {
  const links: string[] = [];
  void marked.walkTokens(tokens, (token) => {
    if (token.type === "link") links.push((token as Tokens.Link).href);
  });
  return links;
}

/** The text of inline tokens without markup. */
export function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      const inner = (token as { tokens?: Token[] }).tokens;
      if (inner) return plainText(inner);
      return token.type === "br" ? " " : ((token as { text?: string }).text ?? "");
    })
    .join("");
}

/** Makes the anchors of one page's headings as GitHub does: a repeated heading gets a number. */
export function anchorMaker(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = used.get(anchor) ?? 0;
    used.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  };
}
