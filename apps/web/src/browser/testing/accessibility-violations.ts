import { readFileSync } from "node:fs";
import type axe from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * Waits for colour transitions. They pass from parents to children, frame by frame, and would fail the contrast check.
 */
const SETTLED = `new Promise((done) => {
  let still = 0;
  const look = () => {
    still = document.getAnimations().some((one) => one instanceof CSSTransition) ? 0 : still + 1;
    if (still > 3) done();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Content behind a dialog is not reachable, so its dimmed colours do not count. */
const UNREACHABLE = "#root[aria-hidden=true]";
/** The list of sessions and the main menu. */
const FRAME = "#root aside";

/** Runs axe and checks for horizontal overflow. Returns one line per violation. `withFrame`: also of the page's frame. */
export async function accessibilityViolations(page: Page, { withFrame = true } = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  await page.evaluate(SETTLED);
  // Passed checks would be many times as much output.
  const reachable = JSON.stringify({ exclude: withFrame ? [UNREACHABLE] : [UNREACHABLE, FRAME] });
  const options = JSON.stringify({ runOnly: RULES, resultTypes: ["violations"], selectors: false });
  const violations = (await page.evaluate(
    `axe.run(${reachable}, ${options}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    ...(await tooWide(page)),
  ];
}

/** Checks for horizontal overflow alone, in a fraction of the time. */
export async function overflow(page: Page): Promise<string[]> {
  await page.evaluate(SETTLED);
  return tooWide(page);
}

async function tooWide(page: Page): Promise<string[]> {
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
  return isTooWide ? ["wider than the screen"] : [];
}
