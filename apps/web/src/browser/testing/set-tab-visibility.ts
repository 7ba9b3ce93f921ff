import type { Page } from "playwright-core";

/** As if another tab lay over it, or does no more: without a screen, all tabs are on top. */
export const turnTab = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`);
