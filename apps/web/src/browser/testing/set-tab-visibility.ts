import type { Page } from "playwright-core";

/** Simulates a hidden tab: in a headless browser every tab is visible. */
export const setTabVisibility = (page: Page, state: "hidden" | "visible"): Promise<void> =>
  page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`);
