import { basename, dirname, extname, join, normalize } from "node:path/posix";

/** Notion appends the page's id to exported names. */
const ID = /[ -](?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=(?:_all)?(?:\.[a-z]+)?$)/i;

const withoutId = (name: string): string => name.replace(ID, "").replace(/_all(?=\.csv$)/, "");

/** Path in the tree of titles. */
export const notionPath = (path: string): string => path.split("/").map(withoutId).join("/");

export function notionTitle(path: string): string {
  const name = withoutId(basename(path));
  return basename(name, extname(name)).trim() || "Untitled";
}

/** A database is exported twice: as shown and complete (`_all`). Use the complete one. */
export const isShownCopy = (path: string, paths: ReadonlySet<string>): boolean =>
  path.endsWith(".csv") && paths.has(path.replace(/\.csv$/, "_all.csv"));

/** Rewrites links between exported pages to title paths, without ids. */
export function resolveNotionLinks(markdown: string, path: string): string {
  return markdown.replaceAll(/\]\(<?([^()<>\s]+(?:\([^()]*\)[^()<>\s]*)*)>?\)/g, (link, href: string) => {
    if (/^[a-z][a-z0-9+.-]*:|^[/#]/i.test(href)) return link;
    const decoded = decode(href);
    if (decoded === undefined || !ID.test(decoded)) return link;
    const target = notionPath(normalize(join(dirname(path), decoded)));
    // Links out of the export are left unchanged.
    if (target.startsWith("..")) return link;
    return `](<${target.slice(0, target.length - extname(target).length)}>)`;
  });
}

function decode(href: string): string | undefined {
  try {
    return decodeURIComponent(href);
  } catch {
    return undefined;
  }
}
