import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage;

describe.skipIf(browserPath === undefined)("first visit", () => {
  beforeAll(async () => {
    stage = await startPageStage({ demo: true });
    await stage.api("/v1/tenants", { id: "acme", name: "Acme Ltd" });
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("labels demo costs as unpaid wherever costs are shown", async () => {
    const session = await stage.start("Say hello");
    const page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("no model was asked and nothing was spent").waitFor();
    await page.getByRole("button", { name: /^\$0\.\d+ ?in a demo ?spent$/ }).click();
    await page.getByRole("dialog", { name: "Money" }).getByText("nobody pays").waitFor();
    await page.goto(stage.url);
    await page.getByRole("region", { name: "Spent at list prices" }).getByText("A demo: nobody pays").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("signs in as a tenant, who sees neither the operator's sessions nor the machine", async () => {
    const theirs = await stage.start("Say hello");
    const { code } = await stage.api<{ code: string }>("/v1/sign_in/codes", { tenant: "acme" });
    const page = await stage.openSignedOut();
    await page.goto(`${stage.url}/#code=${code}`);
    await page.getByRole("complementary").getByText("Acme Ltd").waitFor();
    await page.goto(`${stage.url}/sessions/${theirs}`);
    await page.getByText("There is nothing here").waitFor();

    await page.goto(`${stage.url}/settings`);
    const settings = page.getByRole("navigation", { name: "Settings" });
    await settings.getByRole("link", { name: "Agents" }).waitFor();
    const links = await settings.getByRole("link").allTextContents();
    expect(links).toContain("Tokens");
    for (const hidden of ["Status", "Trust", "Credentials", "Fleet"]) expect(links).not.toContain(hidden);
    await page.goto(`${stage.url}/settings/status`);
    await page.getByText("There is nothing here").waitFor();

    const operator = await stage.open("/settings");
    await operator.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Status" }).waitFor();
    expect(await operator.getByText("Acme Ltd").count()).toBe(0);
    // The operator sees the tenant of each token.
    await operator.goto(`${stage.url}/settings/tokens`);
    const tokens = operator.locator("#main").getByRole("listitem");
    await tokens.filter({ hasText: "A browser" }).filter({ hasText: "of acme" }).waitFor();
    expect(await tokens.filter({ hasText: "this browser" }).getByText("of acme").count()).toBe(0);
    await page.goto(`${stage.url}/settings/tokens`);
    await page.locator("#main").getByText("this browser", { exact: true }).waitFor();
    expect(await page.locator("#main").getByText("of acme").count()).toBe(0);
  });
});
