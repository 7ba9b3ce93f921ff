import type { BrowserContextOptions, Page } from "playwright-core";
import { inject } from "vitest";
import { accessibilityViolations, overflow } from "./accessibility-violations.ts";
import type { PageStage } from "./page-stage.ts";

const PHONE = { width: 390, height: 844 };
/** A text of all pages that do not exist. */
export const NOTHING = /^(Page|Session) not found$/;
/** Pages to check by name: their path, and a text that shows that they have loaded. */
export type Places = Record<string, [path: string, ready: string | RegExp]>;
/** The theme of the n-th page. The colours are the same everywhere, so each theme on half of the pages finds most faults. */
type Theme = (n: number) => "light" | "dark";
/** Each change of the theme renders the page anew. */
const PAGES_PER_THEME = 6;
const isFirst = (n: number): boolean => Math.floor(n / PAGES_PER_THEME) % 2 === 0;
interface Screen {
  options: BrowserContextOptions;
  theme: Theme;
}
export const SCREENS: Record<string, Screen> = {
  "a desk and a narrow window": { options: {}, theme: (n) => (isFirst(n) ? "light" : "dark") },
  // Repeat every page and dialog.
  ...(inject("soak") && {
    "the other themes": { options: {}, theme: (n) => (isFirst(n) ? "dark" : "light") },
    "a phone": { options: { viewport: PHONE, hasTouch: true, isMobile: true }, theme: () => "dark" },
  }),
};

/** Walks through pages in a window of its own, and collects all violations instead of stopping at the first. */
export class Walk {
  readonly page: Page;
  readonly #stage: PageStage;
  readonly #places: Places;
  readonly #theme: Theme;
  readonly #found: Record<string, string[]> = {};
  /** Themes in which the frame of the page, the same on every page, was checked. */
  readonly #framed = new Set<string>();
  #looked = 0;

  private constructor(stage: PageStage, places: Places, page: Page, theme: Theme) {
    this.#stage = stage;
    this.#places = places;
    this.page = page;
    this.#theme = theme;
  }

  /** Returns the violations that were found on the way. */
  static async take(
    stage: PageStage,
    places: Places,
    { options, theme }: Screen,
    steps: (walk: Walk) => Promise<void>,
  ): Promise<Record<string, string[]>> {
    // Without transitions, colours are final at once.
    const page = await stage.openOwn({ reducedMotion: "reduce", ...options });
    const walk = new Walk(stage, places, page, theme);
    await steps(walk);
    await page.context().close();
    return walk.#violations;
  }

  async look(name: string): Promise<void> {
    const { page } = this;
    const size = page.viewportSize()!;
    const colorScheme = this.#theme(this.#looked++);
    await page.emulateMedia({ colorScheme });
    const here = await accessibilityViolations(page, { withFrame: !this.#framed.has(colorScheme) });
    this.#framed.add(colorScheme);
    await page.setViewportSize(PHONE);
    here.push(...(await overflow(page)).map((violation) => `in a narrow window, ${violation}`));
    await page.setViewportSize(size);
    if (here.length > 0) this.#found[`${name}, ${colorScheme}`] = here;
  }

  async go(name: string): Promise<void> {
    const { page } = this;
    const [path, ready] = this.#places[name]!;
    // Navigate like a link, through an empty page. A full page load per path takes ten times as long.
    const nothing = page.getByText(NOTHING);
    await page.evaluate(`history.pushState(null, "", "/nowhere/at-all")`);
    await nothing.waitFor();
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
    if (ready !== NOTHING) await nothing.waitFor({ state: "detached" });
    await page.locator("#main h1:visible").first().waitFor();
    await page.locator("#main").getByText(ready).filter({ visible: true }).first().waitFor();
  }

  async visit(name: string): Promise<void> {
    const isThere = await this.go(name).then(
      () => true,
      () => false,
    );
    if (isThere) await this.look(name);
    else this.#found[name] = [`It does not say ${this.#places[name]![1]}.`];
  }

  /** Violations, and errors of the page. Browsers log 4xx responses as errors; the page shows them itself. */
  get #violations(): Record<string, string[]> {
    const isOurs = (text: string): boolean => !/status of 40[014]|ERR_FAILED|dynamically imported/.test(text);
    const errors = this.#stage.pageErrors().filter(isOurs);
    return { ...this.#found, ...(errors.length > 0 && { errors }) };
  }
}
