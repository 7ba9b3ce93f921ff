// Builds the docs site from docs/: static pages and a search index, without requests to other hosts. `npm run docs`.
import { cpSync, existsSync, globSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Tokens } from "marked";
import { type NavigationGroup, pageTemplate } from "./page-template.ts";
import { type DocsPage, plainText, readPages, repositoryPath } from "./read-pages.ts";
import { renderPage, sectionsOf } from "./render-page.ts";

const root = join(import.meta.dirname, "..", "..");
/** The server serves this folder at /docs, and packages contain it. */
const OUTPUT = join(root, "docs", "dist");

/** Replaces the contents of `folder`. */
export function buildDocs(folder: string = OUTPUT): void {
  const pages = readPages(root);
  const navigation = navigationOf(pages);
  const paths = new Map(pages.map(({ file, path }) => [file, path]));
  const pictures = new Set<string>();
  const examples = new Set<string>();
  const locate = (file: string): string | undefined => {
    const path = paths.get(file) ?? paths.get(join(file, "README.md"));
    if (path !== undefined) return path;
    if (/^docs\/.*\.(webp|svg|gif|png)$/.test(file) && existsSync(join(root, file))) {
      pictures.add(file);
      return file.slice("docs/".length);
    }
    if (!file.startsWith("docs/examples/")) return undefined;
    examples.add(file);
    return `${file.slice("docs/".length)}.txt`;
  };

  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const page of pages) {
    const { html, contents } = renderPage(page, locate);
    write(page.path, pageTemplate({ path: page.path, title: page.title, html, contents }, navigation));
  }
  write("search-index.js", `tandemSearchIndex(${JSON.stringify(searchIndex(pages))});\n`);
  for (const file of pictures) copy(file, join(folder, file.slice("docs/".length)));
  for (const file of examples) copy(file, join(folder, `${file.slice("docs/".length)}.txt`));
  for (const file of ["site.css", "site.js"]) copy(join("scripts", "docs-site", file), join(folder, file));
  copy("apps/web/public/icon.svg", join(folder, "icon.svg"));
}

/** Builds the site if a source is newer than the last build. */
export function buildDocsIfChanged(): void {
  const index = join(OUTPUT, "index.html");
  const sources = globSync(["docs/**/*.{md,webp,svg,ts,py}", "*.md", "scripts/docs-site/*"], { cwd: root });
  const changed = Math.max(...sources.map((file) => statSync(join(root, file)).mtimeMs));
  if (!existsSync(index) || statSync(index).mtimeMs < changed) buildDocs();
}

function copy(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(root, file), to);
}

/** Each list under a second-level heading of docs/README.md is a group. */
function navigationOf(pages: DocsPage[]): NavigationGroup[] {
  const index = pages.find(({ file }) => file === "docs/README.md")!;
  const groups: NavigationGroup[] = [];
  for (const token of index.tokens) {
    if (token.type === "heading" && (token as Tokens.Heading).depth === 2) {
      groups.push({ title: plainText((token as Tokens.Heading).tokens), links: [] });
    } else if (token.type === "list") {
      for (const item of (token as Tokens.List).items) {
        const inline = (item.tokens[0] as Tokens.Text).tokens ?? [];
        const link = inline.find((each): each is Tokens.Link => each.type === "link");
        const target = link && repositoryPath(index.file, link.href);
        const page = target && pages.find(({ file }) => file === target.file);
        if (page) groups.at(-1)?.links.push({ title: plainText(link.tokens), path: page.path });
      }
    }
  }
  return groups.filter(({ links }) => links.length > 0);
}

/** `[path, title, sections]` for each page; a section is `[anchor, heading, text]`. */
function searchIndex(pages: DocsPage[]) {
  return pages.map((page) => [
    page.path,
    page.title,
    sectionsOf(page).map(({ anchor, heading, text }) => [anchor, heading, text]),
  ]);
}

if (import.meta.main) {
  buildDocs();
  console.log("The docs site is in docs/dist/. `tandem up` serves it at /docs; any static host can serve the folder.");
}
