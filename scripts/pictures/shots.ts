import type { Page } from "playwright-core";
import { COMPARISON, reportPath } from "../../apps/web/src/browser/testing/sample-reports.ts";
import { SETTINGS_PAGES } from "../../apps/web/src/settings/settings-pages.ts";
import { type Cast, TENANT } from "./shop-server.ts";

export interface Shot {
  name: string;
  path: string;
  look?: "light" | "dark";
  isPhone?: boolean;
  /** The tenant's user, if not the operator. */
  tenant?: string;
  /** The actions before the screenshot. */
  act?: (page: Page) => Promise<void>;
}

/** Every page of the web app. */
export function shots({ refunds, fork, shipping, letter, plan, review, stock }: Cast): Shot[] {
  const session = (id: string, view = "") => `/sessions/${id}${view === "" ? "" : `?view=${view}`}`;
  return [
    // It runs only for a while.
    {
      name: "session-running",
      path: session(stock),
      look: "dark",
      act: (page) => page.getByText("Harbour 7").waitFor({ timeout: 90_000 }),
    },
    { name: "home", path: "/" },
    { name: "home-dark", path: "/", look: "dark" },
    { name: "home-phone", path: "/", look: "dark", isPhone: true },
    { name: "new-session", path: "/", act: beginSession },
    { name: "palette", path: "/", look: "dark", act: (page) => page.keyboard.press("Control+k") },
    { name: "keys", path: session(refunds), act: (page) => page.keyboard.press("?") },
    { name: "session", path: session(refunds), act: toFirstTurn },
    { name: "session-dark", path: session(refunds), look: "dark" },
    { name: "session-phone", path: session(refunds), isPhone: true },
    { name: "session-subagent", path: session(review) },
    { name: "session-approval", path: session(shipping), act: (page) => page.getByText("Allow once").waitFor() },
    { name: "session-question", path: session(letter) },
    {
      name: "session-plan",
      path: session(plan),
      look: "dark",
      act: (page) => page.getByText("Approve plan").waitFor(),
    },
    { name: "changes", path: session(refunds, "changes") },
    { name: "changes-dark", path: session(refunds, "changes"), look: "dark" },
    { name: "history", path: session(refunds, "history"), look: "dark" },
    { name: "compare", path: `/compare?a=${refunds}&b=${fork}` },
    { name: "report", path: reportPath(COMPARISON) },
    { name: "inbox", path: "/inbox" },
    { name: "inbox-dark", path: "/inbox", look: "dark" },
    { name: "inbox-phone", path: "/inbox", isPhone: true },
    { name: "decided", path: "/inbox?view=decided" },
    { name: "context", path: "/context" },
    { name: "context-search", path: "/context/search?q=active%20customer" },
    { name: "context-table", path: "/context/tables/shop/main.orders" },
    { name: "context-joins", path: "/context/graph/shop/main.orders", look: "dark" },
    { name: "context-wiki", path: "/context/wiki/metrics/active-customer" },
    { name: "context-proposal", path: "/context/proposals", act: openFirst("proposals") },
    { name: "context-memory", path: "/context/memory" },
    { name: "context-job", path: "/context/jobs", act: openLast("jobs"), look: "dark" },
    { name: "context-sources", path: "/context/sources" },
    { name: "context-phone", path: "/context/tables/shop/main.orders", isPhone: true, look: "dark" },
    ...SETTINGS_PAGES.map(({ name }, index): Shot => ({
      name: `settings-${name}`,
      path: `/settings/${name}`,
      look: index % 3 === 1 ? "dark" : "light",
    })),
    { name: "tenant", path: "/settings/agents", tenant: TENANT.id },
    { name: "settings-phone", path: "/settings/budgets", isPhone: true },
  ];
}

async function beginSession(page: Page): Promise<void> {
  await page.keyboard.press("n");
  await page.getByRole("dialog").waitFor();
  await page.waitForTimeout(1_000);
  await page.keyboard.type("Which orders were sent twice since October, and why?");
}

async function toFirstTurn(page: Page): Promise<void> {
  await page.locator("#main").click({ position: { x: 5, y: 60 } });
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.evaluate("document.activeElement?.blur()");
  await page.waitForTimeout(400);
}

const openLast =
  (section: string) =>
  async (page: Page): Promise<void> => {
    await page.locator(`#main a[href^="/context/${section}/"]`).last().click();
    await page.waitForTimeout(1_200);
  };

const openFirst =
  (section: string) =>
  async (page: Page): Promise<void> => {
    await page.locator(`#main a[href^="/context/${section}/"]`).first().click();
    await page.waitForTimeout(1_200);
  };
