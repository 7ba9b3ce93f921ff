let hasKey = false;

/** To be called once. Tracks whether a pressed key is not painted yet. */
export function watchKeys(): void {
  const painted = (): void => {
    hasKey = false;
  };
  const pressed = (): void => {
    hasKey = true;
    // A task after the next frame.
    requestAnimationFrame(() => setTimeout(painted));
  };
  addEventListener("keydown", pressed, { capture: true, passive: true });
}

/**
 * Runs `work` in the next frame, or one frame later if the next one has to paint a pressed key. Typing has priority.
 */
export function inNextFrame(work: () => void): void {
  requestAnimationFrame(() => (hasKey ? requestAnimationFrame(work) : work()));
}
