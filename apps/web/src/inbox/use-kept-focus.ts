import { type RefObject, useLayoutEffect } from "react";

/**
 * Keeps the keyboard's place when an answered card disappears: the focus moves to the next card, the conversation or the
 * page, instead of back to the top of the document.
 */
export function useKeptFocus(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (!element?.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return;
        const next = ["article[data-card]", "[role=log]"]
          .map((selector) => document.querySelector<HTMLElement>(`#main ${selector}`))
          .find((found) => found !== null);
        (next ?? document.getElementById("main"))?.focus({ preventScroll: true });
      });
    };
  }, [card]);
}
