import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Long enough for the first requests of clients that waited for the server. */
const LOOK_MS = 3_000;
/** A thread that works more than this in a look is not idle. */
const IDLE_SHARE = 0.05;

/** Shrinks the heap of this thread once, as soon as it is idle. */
export function shrinkHeapWhenIdle(): Disposable {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > IDLE_SHARE) return;
    clearInterval(timer);
    shrinkHeap();
  }, LOOK_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A start lets V8's space for new objects grow to 32 or 64 MB, which only this kind of collection gives back. Takes 0.1 s. */
export function shrinkHeap(): void {
  setFlagsFromString("--expose-gc");
  // The flag takes effect in new contexts.
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
