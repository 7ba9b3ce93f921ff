import type { Page, PageQuery } from "@tandem/storage";

const PAGE = 200;

/** Every entry of a list, page by page. */
export async function* listAll<T>(
  list: (query: PageQuery) => Promise<Page<T>>,
  query: Omit<PageQuery, "limit" | "cursor"> = {},
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page: Page<T> = await list({ ...query, limit: PAGE, cursor });
    yield* page.data;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}
