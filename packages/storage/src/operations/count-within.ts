/** How many of the first are together no longer than that, but at least one if there are any. */
export function countWithin(most: number, sizes: readonly { bytes: number }[]): number {
  let sum = 0;
  const end = sizes.findIndex(({ bytes }, index) => (sum += bytes) > most && index > 0);
  return end === -1 ? sizes.length : end;
}
