/** Distinct values checked, found, and missing ones that mean "none": 0, -1, empty text. */
export interface Overlap {
  checked: number;
  found: number;
  none: number;
  /** Rows with these values, and with those that were found. */
  rows: number;
  foundRows: number;
}
