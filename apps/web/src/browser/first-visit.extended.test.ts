import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityViolations } from "./testing/accessibility-violations.ts";
import { browserPath, startPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage;

describe.skipIf(browserPath === undefined)("first visit", () => {
  beforeAll(async () => {
    stage = await startPageStage({ demo: true });
    await stage.api("/v1/tenants", { id: "acme", name: "Acme Ltd" });
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("the tour: approve an edit, see the diff, rewind it, ask the context", async () => {
    const page = await stage.open("/");
    const demo = page.getByRole("region", { name: "Demo" });
    await page.getByRole("heading", { name: /^Needs you/ }).waitFor();
    await expect.poll(() => page.locator("[data-session]").count()).toBeGreaterThanOrEqual(8);
    await demo.getByText("step 1 of 4").waitFor({ state: "attached" });
    expect(await accessibilityViolations(page)).toEqual([]);

    await demo.getByRole("link", { name: "Open the session" }).click();
    await page.getByRole("button", { name: /^Allow once/ }).click();
    await demo.getByText("See the diff.").waitFor();
    await page.getByRole("log").getByText("ship for free now").waitFor();
    await demo.getByRole("link", { name: "Open Changes" }).click();
    await demo.getByText("Rewind it.").waitFor();
    await page.locator("#main").getByText("6_000").waitFor();
    await page.getByRole("button", { name: /^Rewind …/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rewind" }).click();
    await demo.getByRole("button", { name: "Ask the context" }).click();
    await demo.getByText("Tour complete.").waitFor();
    await page.getByRole("log").getByText("I found this in the context").waitFor();

    await page.getByRole("button", { name: /^\$0\.00 ?demo ?spent$/ }).click();
    await page.getByRole("dialog", { name: "Cost" }).getByText("nothing is billed").waitFor();
    await page.keyboard.press("Escape");
    await demo.getByRole("button", { name: "Use my Claude login" }).first().click();
    await page.getByRole("dialog", { name: "Use my Claude login" }).getByText("tandem login").waitFor();
    await page.keyboard.press("Escape");
    await demo.getByRole("button", { name: "Close" }).click();
    await demo.getByRole("button", { name: "Start tour" }).click();
    await demo.getByText("Approve an edit.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("signs in as a tenant, who sees neither the operator's sessions nor the machine", async () => {
    const theirs = await stage.start("Say hello");
    const { code } = await stage.api<{ code: string }>("/v1/sign_in/codes", { tenant: "acme" });
    const page = await stage.openSignedOut();
    await page.goto(`${stage.url}/#code=${code}`);
    await page.getByRole("complementary").getByText("Acme Ltd").waitFor();
    await page.goto(`${stage.url}/sessions/${theirs}`);
    await page.getByText("Session not found").waitFor();

    await page.goto(`${stage.url}/settings`);
    const settings = page.getByRole("navigation", { name: "Settings" });
    await settings.getByRole("link", { name: "Agents" }).waitFor();
    const links = await settings.getByRole("link").allTextContents();
    expect(links).toContain("Tokens");
    for (const hidden of ["Status", "Trust", "Credentials", "Fleet"]) expect(links).not.toContain(hidden);
    await page.goto(`${stage.url}/settings/status`);
    await page.getByText("Page not found").waitFor();

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
