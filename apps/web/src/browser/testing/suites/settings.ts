import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";
import type { WebhookReceiver } from "../webhook-receiver.ts";

let stage: PageStage;

/** See `settings.extended.test.ts`. */
export function testSettings(shared: () => PageStage, hook: () => WebhookReceiver): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("shows notification targets and sends a test", async () => {
    const page = await stage.open(`/settings/notifications`);
    const webhook = page.getByRole("listitem").filter({ hasText: "/hooks" });
    await webhook.getByText("Events: failures · not signed").waitFor();
    await webhook.getByText("nothing sent yet").waitFor();
    expect(await page.getByText("secret").count()).toBe(0);
    await page.getByRole("button", { name: "Send a test" }).click();
    await webhook.getByText("delivered", { exact: true }).waitFor();
    expect(JSON.parse(hook().received.join(""))).toMatchObject({ type: "test" });
    // The page knows whether this machine has a desktop; the test does not.
    await page
      .getByRole("listitem")
      .filter({ hasText: "Desktop of the server’s machine" })
      .getByText(/delivered/)
      .waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("adds a webhook endpoint, shows its secret once, tests it and sends a delivery again", async () => {
    const page = await stage.open(`/settings/webhooks`);
    await page.getByText("No endpoints yet").waitFor();
    await page.getByRole("button", { name: "Add endpoint" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill(`${new URL(hook().url).origin}/webhooks`);
    await dialog.getByLabel("Name (optional)").fill("ops");
    await dialog.getByRole("button", { name: "Select all of agent" }).click();
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const secret = await dialog.getByText(/^whsec_/).textContent();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("heading", { name: "ops" }).waitFor();
    await page.getByText("6 event types").waitFor();
    expect(await page.content()).not.toContain(secret);
    const before = hook().received.length;
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("delivered", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Show deliveries" }).click();
    await page.getByRole("button", { name: /^Resend tandem.test/ }).click();
    await expect.poll(() => hook().received.length).toBe(before + 2);
    const [first, second] = hook().received.slice(before);
    expect(second).toBe(first);
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("disabled", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove …" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No endpoints yet").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("stores a credential in a vault, never shows its secret, and gives the vault to a session", async () => {
    const page = await stage.open("/settings/vaults");
    const dialog = page.getByRole("dialog");
    await page.getByText("No vaults yet").waitFor();
    await page.getByRole("button", { name: "New vault" }).click();
    await dialog.getByLabel("Name").fill("team");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("No credentials.").waitFor();
    await page.getByRole("button", { name: "Add credential …" }).click();
    await dialog.getByLabel("MCP server URL").fill("https://mcp.example.com/mcp");
    expect(await dialog.getByLabel("Token").getAttribute("type")).toBe("password");
    await dialog.getByLabel("Token").fill("s3cr3t-of-the-page");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    const row = page.getByRole("listitem").filter({ hasText: "https://mcp.example.com/mcp" });
    await row.getByText("not checked").waitFor();
    await page.getByRole("button", { name: "Add credential …" }).click();
    await dialog.getByLabel("Type").selectOption("environment_variable");
    await dialog.getByLabel("Variable", { exact: true }).fill("API_KEY");
    await dialog.getByLabel("Hosts").fill("api.example.com");
    await dialog.getByLabel("Value").fill("s3cr3t-of-the-page");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Variable, sent to api.example.com").waitFor();
    // The list reloads before the dialog closes.
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain("s3cr3t-of-the-page");
    await page.getByRole("button", { name: "Archive API_KEY" }).click();
    await dialog.getByRole("button", { name: "Archive" }).click();
    await page.getByText("Variable, sent to api.example.com").waitFor({ state: "detached" });

    await page.goto(stage.url);
    await page.getByRole("button", { name: /^New session/ }).click();
    await dialog.getByLabel("team").check();
    await dialog.getByRole("button", { name: /^Start/ }).click();
    await page.waitForURL(/sesn_/);
    const session = /sesn_\w+/.exec(page.url())![0];
    const { vault_ids: vaults } = await stage.api<{ vault_ids: string[] }>(`/v1/sessions/${session}`);
    expect(vaults).toHaveLength(1);
    await page.goto(`${stage.url}/settings/vaults`);
    await page.getByRole("button", { name: "Delete …" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No vaults yet").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows models, prices and the billed credential, but no secret", async () => {
    const page = await stage.open(`/settings/models`);
    const { data } = await stage.api<{ data: { id: string; tandem: { price: { input: number } | null } }[] }>(
      "/v1/models",
    );
    const priced = data.find(({ tandem }) => tandem.price)!;
    const model = page.getByRole("row", { name: new RegExp(`\\b${priced.id}\\b`) });
    await model.getByRole("cell", { name: priced.tandem.price!.input.toFixed(2), exact: true }).waitFor();
    await page.goto(`${stage.url}/settings/credentials`);
    const used = page.locator("section").filter({ has: page.getByRole("heading", { name: "In use" }) });
    await used.getByRole("listitem").filter({ hasText: "Sessions" }).getByText("TANDEM_TEST_KEY").waitFor();
    expect(await page.content()).not.toContain("sk-ant-made-up");
    expect(stage.pageErrors()).toEqual([]);
  });

  test("uploads a skill, gives it to an agent, downloads and deletes it", async () => {
    const page = await stage.open("/settings/skills");
    const dialog = page.getByRole("dialog");
    await page.getByText("No skills yet").waitFor();
    const upload = async (button: string, text: string) => {
      await page.getByRole("button", { name: button }).click();
      // The browser does not let a test choose a folder by its button.
      await page.evaluate((main) => {
        const file = new File([main], "SKILL.md");
        Object.defineProperty(file, "webkitRelativePath", { value: "heron/SKILL.md" });
        const input = document.querySelector<HTMLInputElement>('input[aria-label="Folder"]')!;
        Object.defineProperty(input, "files", { value: [file] });
        input.dispatchEvent(new Event("change", { bubbles: true }));
      }, text);
      await dialog.getByRole("button", { name: "Upload" }).click();
    };
    await upload("Upload skill", "No front matter");
    await dialog.getByText("description: is missing").waitFor();
    await page.keyboard.press("Escape");
    await upload("Upload skill", "---\nname: heron\ndescription: Greets herons.\n---\nGreet.\n");
    const row = page.locator("#main").getByRole("button", { name: "heron" });
    await row.click();
    await page.getByText("Greets herons.").waitFor();
    await upload("Upload new version", "---\nname: heron\ndescription: Greets all herons.\n---\nGreet.\n");
    await page.getByText("Greets all herons.").waitFor();

    await page.goto(`${stage.url}/settings/agents`);
    await page.getByRole("button", { name: "New agent" }).click();
    await dialog.getByLabel("Name").fill("Greeter");
    await dialog.getByLabel("Model").selectOption({ index: 1 });
    await dialog.getByLabel("heron").check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Greeter").waitFor();

    await page.goto(`${stage.url}/settings/skills`);
    await row.click();
    await page.getByRole("link", { name: "Greeter" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).first().click();
    expect((await download).suggestedFilename()).toBe("heron.zip");
    await page.getByRole("button", { name: "Delete …" }).last().click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Download" }).count()).toBe(1);
    await page.getByRole("button", { name: "Delete skill …" }).click();
    await dialog.getByText("Greeter has this skill.").waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No skills yet").waitFor();
    expect(stage.pageErrors()).toEqual([expect.stringContaining("400 (Bad Request)")]);
  });

  test("creates an environment, a token, a limit and an agent version, and finds them in the audit", async () => {
    const page = await stage.open("/settings/environments");
    const dialog = page.getByRole("dialog");
    const row = (words: string) => page.locator("#main").getByRole("listitem").filter({ hasText: words });
    await page.getByRole("button", { name: "New environment" }).click();
    await dialog.getByLabel("Name").fill("Elsewhere");
    await dialog.getByLabel("Type").selectOption({ label: "Private scratch folder for each session" });
    await dialog.getByRole("button", { name: "Create" }).click();
    await row("Elsewhere").waitFor();
    await page.keyboard.press("n");
    const where = dialog.getByLabel("Work in");
    await where.selectOption({ label: "Elsewhere: a separate folder" });
    await page.keyboard.press("Escape");
    await row("Elsewhere").getByRole("button", { name: "Archive …" }).click();
    await dialog.getByRole("button", { name: "Archive" }).click();
    await row("Elsewhere").waitFor({ state: "detached" });

    await page.goto(`${stage.url}/settings/tokens`);
    await page.getByRole("button", { name: "New token" }).click();
    await dialog.getByLabel("Name").fill("robot");
    await dialog.getByRole("button", { name: "Create" }).click();
    const secret = await dialog.locator("p.font-mono").innerText();
    const answer = async (path: string) =>
      (await fetch(`${stage.url}${path}`, { headers: { authorization: `Bearer ${secret}` } })).status;
    // The token may run sessions, but not administer the server.
    expect([await answer("/v1/sessions"), await answer("/v1/tokens")]).toEqual([200, 403]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await row("robot").getByRole("button", { name: "Revoke …" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await row("robot").waitFor({ state: "detached" });
    // The list is hidden while the dialog is open.
    await expect.poll(() => answer("/v1/sessions")).toBe(401);

    await page.goto(`${stage.url}/settings/budgets`);
    await page.getByLabel("Limit").fill("500");
    await page.getByRole("button", { name: "Set limit" }).click();
    await row("Today").getByText("of $500.00").waitFor();

    await page.goto(`${stage.url}/settings/agents`);
    await row("scout").getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Description").fill("Looks around.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row("scout").getByText("version 2").waitFor();
    await row("scout").getByRole("button", { name: "Versions" }).click();
    await dialog.getByText("Changed: description").waitFor();

    await page.goto(`${stage.url}/settings/audit`);
    for (const words of ["Token created", "Token revoked", "Budget changed"]) await row(words).first().waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/All \d+ entries are intact/).waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
