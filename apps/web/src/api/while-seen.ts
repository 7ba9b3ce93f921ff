/** A user who switches tabs and comes back within this time has missed nothing. */
const UNSEEN_MS = 5_000;

const isSeen = (): boolean => document.visibilityState === "visible";

/** Resolves when the page is visible. */
const seen = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isSeen() && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });

/** Calls back when the page has been hidden for a while; returns a function that stops watching. */
function whenUnseen(leave: () => void): () => void {
  let timer: number | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (!isSeen()) timer = window.setTimeout(leave, UNSEEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

/** Resolves after the pause, or earlier if the browser is back on the network or gets the focus. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      for (const name of ["online", "focus"]) removeEventListener(name, over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    for (const name of ["online", "focus"]) addEventListener(name, over);
    signal.addEventListener("abort", over, { once: true });
  });
}

/** Closes a stream while the page is hidden: a browser allows six connections to a server, for all of its tabs. */
export const whileSeen = { beforeOpen: seen, watch: whenUnseen };
