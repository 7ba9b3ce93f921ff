import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** Browsers log refused queries as errors; the page shows them itself. */
const faults = (): string[] => stage.pageErrors().filter((error) => !/status of 400/.test(error));

/** See `context-pages.extended.test.ts`. */
export function testMetrics(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("finds a metric by another name, shows its definition and history, and why others cannot be used", async () => {
    const page = await stage.open("/context/metrics");
    await page.getByText("1 definition cannot be used").click();
    await page.getByText("Correct metrics/shop/staff.yaml.").waitFor();
    await page.getByRole("searchbox", { name: "Filter metrics" }).fill("umsatz");
    await page.getByRole("link", { name: /^Late orders/ }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^Revenue/ }).click();
    const article = page.getByRole("article");
    await article
      .getByRole("region", { name: "Formula" })
      .getByText("sum(quantity * unit_price_cents / 100) where order.status <> 'cancelled'")
      .waitFor();
    await article.getByRole("link", { name: "main.order_lines" }).waitFor();
    await article.getByRole("link", { name: "Active customer" }).waitFor();
    await article.getByRole("link", { name: "customer.country" }).waitFor();
    await article.getByRole("region", { name: "Definition" }).getByText("measure: amount").waitFor();
    await article.getByRole("region", { name: "History" }).getByRole("listitem").first().waitFor();

    await stage.open("/context/metrics/shop/late_orders");
    const refusal = page.getByRole("alert");
    await refusal.getByText("needs the measure late").waitFor();
    await refusal.getByText("Fix:").waitFor();
    expect(faults()).toEqual([]);
  });

  test("builds a query by keyboard, which survives a reload, and refuses numbers that would be wrong", async () => {
    const page = await stage.open("/context/metrics/query");
    const choose = async (list: string, ...names: string[]): Promise<void> => {
      await page.getByRole("button", { name: list }).press("Enter");
      const popover = page.getByRole("dialog", { name: list });
      for (const name of names) await popover.getByRole("checkbox", { name, exact: true }).press("Space");
      await page.keyboard.press("Escape");
      await popover.waitFor({ state: "detached" });
    };
    await choose("Choose metrics", "Revenue", "Orders");
    await choose("Choose fields", "Country");
    await page.getByLabel("Add a filter").selectOption("order.status");
    await page.getByText("this filter is not applied").waitFor();
    await choose("Choose values", "delivered");
    await page.getByLabel("Add a filter").selectOption("time");
    await page.getByLabel("Condition for Time (Placed)").selectOption("between");
    await page.getByLabel("Time (Placed) from").fill("2025-01-01");
    await page.getByLabel("Order by").selectOption("revenue");
    await page.getByRole("region", { name: "SQL" }).getByText("2025-01-01").first().waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText(/^6 rows in/).waitFor();
    await page.getByRole("figure", { name: "Revenue in EUR by Country" }).locator("canvas").waitFor();
    await page.getByRole("tab", { name: /^Table/ }).click();
    const rows = page.getByRole("region", { name: "Rows" });
    const first = await rows.getByRole("row").nth(1).textContent();
    expect(first).toMatch(/^DE[\d,.]+$/);

    await page.reload();
    await page.getByText(/^6 rows in/).waitFor();
    expect(await rows.getByRole("row").nth(1).textContent()).toBe(first);
    await page.getByRole("region", { name: "Plan" }).getByText("one row per line").waitFor();
    await page
      .getByRole("region", { name: "Definitions" })
      .getByText(/metrics\/shop\/line\.yaml at \w+/)
      .waitFor();

    await stage.open("/context/metrics/query?metrics=customers&by=order.status");
    const refusal = page.getByRole("alert");
    await refusal.getByText("Refused: the numbers would be wrong").waitFor();
    await refusal.getByText("Fix:").waitFor();
    expect(faults()).toEqual([]);
  });

  test("the palette finds metrics by other names, and the place by other words", async () => {
    const page = await stage.open("/");
    await page.keyboard.press("Control+k");
    const search = page.getByRole("combobox", { name: "Search and commands" });
    await search.fill("report");
    await page.getByRole("option", { name: "Query metrics" }).waitFor();
    await search.fill("umsatz");
    await page.getByRole("option", { name: /^Revenue/ }).click();
    await page.getByRole("heading", { name: "Revenue", level: 2 }).waitFor();
    expect(faults()).toEqual([]);
  });
}
