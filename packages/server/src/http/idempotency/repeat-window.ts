/** The clients wait half a second before the first retry and double it each time, up to this. */
const SLOWEST_BACKOFF_MS = 8_000;
/** The time for a try to fail: at once if the connection is reset, about ten seconds if it is not accepted. */
const FAILING_MS = 10_000;

/**
 * How long before this try an equal request may have been answered and still count as the same. The window is short, because an
 * equal earlier request may have been intended: a longer window would drop a retry whose first try never arrived.
 */
export function repeatWindowMs(tryNumber: number): number {
  let windowMs = 0;
  for (let i = 0; i < Math.min(tryNumber, 1_000); i++) {
    windowMs += FAILING_MS + Math.min(500 * 2 ** i, SLOWEST_BACKOFF_MS);
  }
  return windowMs;
}
