import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** See `settings.extended.test.ts`. */
export function testSchedules(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("creates a schedule with a preview, runs it, pauses it and archives it", async () => {
    // Later suites may begin sessions with it, because the page offers the newest agent first.
    const tools = [{ type: "agent_toolset_20260401" }];
    await stage.api("/v1/agents", { name: "reporter", model: "sonnet", tools });
    const page = await stage.open("/settings/schedules");
    const dialog = page.getByRole("dialog");
    const row = page.locator("#main").getByRole("listitem", { name: "Morning report" });
    const preview = dialog.getByRole("status", { name: "Preview" });
    await page.getByText("No schedules yet").waitFor();
    await page.getByRole("button", { name: "New schedule" }).click();
    await dialog.getByLabel("Name").fill("Morning report");
    await dialog.getByLabel("Agent", { exact: true }).selectOption({ label: "reporter" });
    await dialog.getByLabel("What should the agent do?").fill("Say hello.");
    await dialog.getByLabel("Cron").fill("0 0 31 2 *");
    await preview.getByText("it never matches").waitFor();
    expect(await dialog.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Cron").fill("30 7 * * 1-5");
    await dialog.getByLabel("Time zone").fill("Europe/Berlin");
    await preview.getByText("Every weekday at 07:30, Europe/Berlin").waitFor();
    expect(await preview.getByRole("listitem").allTextContents()).toHaveLength(5);
    await dialog.getByRole("button", { name: "Create" }).click();

    await row.getByText("Every weekday at 07:30, Europe/Berlin").waitFor();
    await row.getByText(/Next run: (Mon|Tue|Wed|Thu|Fri) \d+ \w+,? (at )?07:30/).waitFor();
    await row.getByRole("button", { name: "Run now" }).click();
    const runs = row.getByRole("list", { name: "Last runs of Morning report" });
    await runs.getByText("on request").waitFor();
    expect(await runs.getByRole("link", { name: "Open session" }).getAttribute("href")).toMatch(/^\/sessions\/sesn_/);

    await row.getByRole("button", { name: "Pause", exact: true }).click();
    await row.getByText("paused", { exact: true }).waitFor();
    expect(await row.getByText("Next run").count()).toBe(0);
    await row.getByRole("button", { name: "Unpause" }).click();
    await row.getByText("active", { exact: true }).waitFor();

    await row.getByRole("button", { name: "Edit …" }).click();
    expect(await dialog.getByLabel("What should the agent do?").inputValue()).toBe("Say hello.");
    await dialog.getByLabel("Cron").fill("");
    await preview.getByText("Runs only when you start it.").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("On request only").waitFor();

    await row.getByRole("button", { name: "Archive …" }).click();
    await dialog.getByRole("button", { name: "Archive" }).click();
    await page.getByText("No schedules yet").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
