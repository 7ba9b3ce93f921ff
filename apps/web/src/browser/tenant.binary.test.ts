import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath, PATIENCE_MS, setPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage;

describe.skipIf(browserPath === undefined)("somebody of a tenant", { timeout: PATIENCE_MS }, () => {
  beforeAll(async () => {
    stage = await setPageStage();
    await stage.api("/v1/tenants", { id: "acme", name: "Acme Ltd" });
  }, PATIENCE_MS);
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("signs in as the tenant, sees its name and none of the operator's sessions, and nothing of the machine", async () => {
    const theirs = await stage.start("Say hello");
    const { code } = await stage.api<{ code: string }>("/v1/sign_in/codes", { tenant: "acme" });
    const page = await stage.openStrange();
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

    const operator = await stage.open();
    await operator.goto(`${stage.url}/settings`);
    await operator.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Status" }).waitFor();
    expect(await operator.getByText("Acme Ltd").count()).toBe(0);
  });
});
