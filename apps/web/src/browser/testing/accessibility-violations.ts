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
const REACHABLE = '{ exclude: ["#root[aria-hidden=true]"] }';

/** Runs axe and checks for horizontal overflow. Returns one line per violation. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  await page.evaluate(SETTLED);
  // Passed checks would be many times as much output.
  const options = JSON.stringify({ runOnly: RULES, resultTypes: ["violations"], selectors: false });
  const violations = (await page.evaluate(
    `axe.run(${REACHABLE}, ${options}).then(({ violations }) => violations)`,
  )) as axe.Result[];
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`),
    ...(await overflow(page)),
  ];
}

/** Checks for horizontal overflow alone, in a fraction of the time. */
export async function overflow(page: Page): Promise<string[]> {
  await page.evaluate(SETTLED);
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
  return isTooWide ? ["wider than the screen"] : [];
}
