import type { FileProblem } from "../../formats/file-problem.ts";
import { checkPage, citationsIn } from "../../wiki/check-page.ts";
import { pageKeyOf, parsePage, readPage } from "../../wiki/page-file.ts";
import { uncitedBlocks } from "../workbench/page-blocks.ts";

/** Pages after and before a change. */
export interface PageView {
  paths: readonly string[];
  /** Null if it does not exist. */
  read(path: string): string | null;
  before(path: string): string | null;
}

export interface Knowledge {
  hasTable: (name: string) => boolean;
  /** The existing ones among these citations. */
  citations: (wanted: readonly string[]) => Promise<ReadonlySet<string>>;
}

/**
 * Problems of changed pages: front matter, refs, citations, unsupported statements; and of pages that refer to a
 * removed one. Problems that existed before are ignored.
 */
export async function checkPages(
  view: PageView,
  changed: readonly string[],
  knowledge: Knowledge,
): Promise<Map<string, FileProblem[]>> {
  const found = new Map<string, FileProblem[]>();
  for (const path of changed) {
    const text = view.read(path);
    const problems = text === null ? [] : await checkText(view, path, text, knowledge);
    if (problems.length > 0) found.set(path, problems);
  }
  const removed = changed.filter((path) => view.read(path) === null).map((path) => pageKeyOf(path));
  if (removed.length === 0) return found;
  for (const path of view.paths.filter((each) => !changed.includes(each))) {
    const page = readPage(path, view.read(path));
    const dangling = removed.filter((key) => key !== undefined && page?.refs.includes(`page:${key}`));
    const problems = dangling.map((key): FileProblem => ({
      type: "unknown_ref",
      line: undefined,
      message: `There is no page ${key} any more, to which a ref leads.`,
    }));
    if (problems.length > 0) found.set(path, problems);
  }
  return found;
}

/** Problems of one page with the given text. */
export async function checkText(
  view: PageView,
  path: string,
  text: string,
  { hasTable, citations }: Knowledge,
): Promise<FileProblem[]> {
  const key = pageKeyOf(path);
  if (key === undefined) return [{ type: "bad_front_matter", line: undefined, message: `${path} is no page.` }];
  const parsed = parsePage(key, text);
  if (!parsed.success) return parsed.problems;
  const { page, bodyLine } = parsed;
  const before = readPage(path, view.before(path));
  const pages = new Set(view.paths);
  const known = await citations(citationsIn(page.body).map(({ citation }) => citation));
  const citedBefore = new Set(before?.sources.map(({ citation }) => citation));
  const refsBefore = new Set(before?.refs);
  const problems = checkPage(
    { ...page, refs: page.refs.filter((ref) => !refsBefore.has(ref) || ref.startsWith("page:")) },
    bodyLine,
    {
      page: (name) => name === key || pages.has(`wiki/${name}.md`),
      table: hasTable,
      citation: (citation) => known.has(citation) || citedBefore.has(citation),
    },
  );
  const uncited = uncitedBlocks(page.body, before?.body).map((block): FileProblem => ({
    type: "unknown_citation",
    line: bodyLine + block.from - 1,
    message: `This rests on nothing: ${JSON.stringify(block.text.slice(0, 80))}.`,
  }));
  return [...problems, ...uncited];
}
