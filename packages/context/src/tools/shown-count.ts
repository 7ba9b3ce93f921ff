import type { Exactness } from "../catalogue/table-file.ts";

/** `42`, or `≈1,200` for a count that is not exact. Counts of older catalogues do not say; they were rounded. */
export const shownCount = (count: number, exactness: Exactness | undefined): string =>
  `${exactness === "exact" ? "" : "≈"}${count.toLocaleString("en")}`;
