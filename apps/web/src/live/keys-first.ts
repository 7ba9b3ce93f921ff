let hasKey = false;

/** To be called once: from then on the page knows when a key was pressed that is not on the screen yet. */
export function watchKeys(): void {
  const painted = (): void => {
    hasKey = false;
  };
  const pressed = (): void => {
    hasKey = true;
    // The task after the next frame.
    requestAnimationFrame(() => setTimeout(painted));
  };
  addEventListener("keydown", pressed, { capture: true, passive: true });
}

/** Does it in the next frame; if that one has to show what a key has done, in the one after it: who writes comes first. */
export function inNextFrame(work: () => void): void {
  requestAnimationFrame(() => (hasKey ? requestAnimationFrame(work) : work()));
}
