const LOOK_EVERY_MS = 500;

/** Fires when the process that started this one is gone, also where another still holds the pipe that it left. */
export function watchParent(): { signal: AbortSignal } & Disposable {
  const parent = process.ppid;
  const gone = new AbortController();
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone.abort();
  }, LOOK_EVERY_MS).unref();
  return { signal: gone.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
