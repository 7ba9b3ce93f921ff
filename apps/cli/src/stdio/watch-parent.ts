const LOOK_EVERY_MS = 500;

/** Aborts when the parent process exits, even if another process still holds its pipe. */
export function watchParent(): { signal: AbortSignal } & Disposable {
  const parent = process.ppid;
  const gone = new AbortController();
  const timer = setInterval(() => {
    if (process.ppid !== parent) gone.abort();
  }, LOOK_EVERY_MS).unref();
  return { signal: gone.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
