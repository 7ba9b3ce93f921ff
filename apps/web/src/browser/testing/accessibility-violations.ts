import { readFileSync } from "node:fs";
import type axe from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const ALL = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];
/** All that another theme can change. */
export const COLOURS = ["color-contrast", "link-in-text-block"];

/** A colour on its way to another one is neither: it passes from parents to children, frame by frame. */
const SETTLED = `new Promise((done) => {
  let still = 0;
  const look = () => {
    still = document.getAnimations().some((one) => one instanceof CSSTransition) ? 0 : still + 1;
    if (still > 3) done();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** What lies dimmed under a dialog is not there to be read. */
const REACHABLE = '{ exclude: ["#root[aria-hidden=true]"] }';

/** All that a small touch screen can change. */
export const SMALL_SCREEN = ["target-size", "meta-viewport", "scrollable-region-focusable"];

/** What stands in the way of people who cannot see, point or tell colours apart; and whether the page is wider than the screen. */
export async function barriers(page: Page, rules: readonly string[] = ALL): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  await page.evaluate(SETTLED);
  // What is in order is many times as much, and nobody asks where it stands.
  const options = JSON.stringify({ runOnly: rules, resultTypes: ["violations"], selectors: false });
  const violations = (await page.evaluate(
    `axe.run(${rules === COLOURS ? REACHABLE : "document"}, ${options}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    ...(isTooWide ? ["wider than the screen"] : []),
  ];
}
