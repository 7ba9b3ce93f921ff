import { createHash } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";

/** Hashing this much takes about 20 ms on an idle core of the machine that the timeouts were chosen on. */
const SAMPLE = Buffer.alloc(8 << 20);
const SAMPLE_MS = 20;
const SAMPLES = 3;
/** A hung test must still end within the hour. */
const HIGHEST = 12;

/**
 * How many times slower than an idle developer machine this one is: at least 1. Timeouts of tests are multiplied by it, so
 * that a busy or slow machine does not fail tests that are correct.
 */
export function measureSlowness(): number {
  const times = Array.from({ length: SAMPLES }, () => {
    const started = performance.now();
    createHash("sha256").update(SAMPLE).digest();
    return performance.now() - started;
  });
  // The shortest sample shows the core's speed, the load shows how many processes share it.
  const core = Math.min(...times) / SAMPLE_MS;
  const queue = (loadavg()[0] ?? 0) / availableParallelism();
  // Rounded up to halves: tests multiply leases by it, which the store keeps as whole milliseconds.
  return Math.min(Math.ceil(2 * Math.max(1, core) * Math.max(1, queue)) / 2, HIGHEST);
}
