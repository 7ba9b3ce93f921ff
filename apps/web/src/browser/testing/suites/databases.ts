import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** See `context-pages.extended.test.ts`. */
export function testDatabases(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("adds a database, scans it, accepts its proposal, finds its tables in the graph and queries one", async () => {
    const page = await stage.open("/context/sources");
    await page.getByRole("link", { name: "Add a database or folder" }).click();
    const save = page.getByRole("button", { name: "Save" });
    await page.getByLabel("Kind").selectOption("sqlite");
    await page.getByLabel("File").fill("data/missing.sqlite");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByRole("alert").getByText("missing.sqlite").waitFor();
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel("File").fill("data/shop.sqlite");
    await page.getByLabel("Name").fill("copy");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("The connection works").waitFor();
    await page.getByText(/^SQLite 3\./).waitFor();
    await save.click();
    await page.getByText("Added copy to").waitFor();
    expect(await readFile(join(stage.project, "tandem.yaml"), "utf8")).toMatch(
      /^# The project of tandem demo context[\s\S]*copy:\n +driver: sqlite\n +path: data\/shop\.sqlite/,
    );

    await page.getByRole("button", { name: "Scan copy …" }).click();
    const dialog = page.getByRole("dialog", { name: "Scan copy" });
    await dialog.getByText("Model requests").waitFor();
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "scan copy" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "structure" }).getByText("10 tables").waitFor();
    await page.getByRole("link", { name: "Review the proposal" }).click();
    await page.getByText("Join", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: /^Accept all/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept", exact: true }).click();
    await page.getByText("accepted", { exact: true }).first().waitFor();

    await stage.open("/context/graph");
    await page.getByText(/^20 tables/).waitFor();
    await page.locator("canvas[data-drawn]").waitFor({ state: "attached" });
    await page.getByRole("searchbox", { name: "Search tables" }).fill("copy/main.refunds");
    await page.getByText(/^1 of 20 tables/).waitFor();
    await page.getByRole("link", { name: "main.refunds" }).click();
    await page.getByRole("link", { name: "Query" }).click();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("region", { name: "Rows" }).getByText("integer").first().waitFor();
    const sql = page.getByRole("textbox", { name: "SQL" });
    await sql.fill("select count(*)\nform refunds");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Line 2, column 6").waitFor();
    await page.getByRole("button", { name: /select \* from main\.refunds/ }).click();
    expect(await sql.inputValue()).toBe("select * from main.refunds");
    // The refused query is logged by the browser.
    expect(stage.pageErrors().filter((error) => !/status of 400/.test(error))).toEqual([]);
  });
}
