type Cell = string | number | boolean | null;

const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 });
const DECIMAL = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const INTEGER = /^-?\d+$/;

const formatter = (digits: number, isFixed: boolean): Intl.NumberFormat =>
  new Intl.NumberFormat(undefined, {
    maximumFractionDigits: digits,
    ...(isFixed && { minimumFractionDigits: digits }),
  });

/** Two decimals, or more for numbers below one, such as shares. */
const digitsFor = (values: readonly number[]): number => (values.every((value) => Math.abs(value) < 1) ? 4 : 2);

/** For an axis or a single figure. */
export const shortNumber = (value: number): string => formatter(digitsFor([value]), false).format(value);

export interface ShownNumber {
  shown: string;
  /** All digits. */
  exact: string;
}

/**
 * Formats the numbers of one column alike, so that their decimals are aligned. Exact decimals and large integers arrive as
 * text; integers keep all digits, also those that a number cannot hold.
 */
export function columnFormat(cells: readonly Cell[]): (cell: string | number) => ShownNumber {
  const values = cells.flatMap((cell) => (cell !== null && DECIMAL.test(String(cell)) ? [Number(cell)] : []));
  const isWhole = values.every((value) => Number.isInteger(value));
  const format = formatter(isWhole ? 0 : digitsFor(values), !isWhole);
  return (cell) => {
    const text = String(cell);
    if (INTEGER.test(text) && isWhole) {
      const whole = exact.format(BigInt(text));
      return { shown: whole, exact: whole };
    }
    if (!DECIMAL.test(text)) return { shown: text, exact: text };
    return { shown: format.format(Number(text)), exact: exact.format(Number(text)) };
  };
}
