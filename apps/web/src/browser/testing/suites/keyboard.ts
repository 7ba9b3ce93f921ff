import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";
import { pressUntil } from "../press-until.ts";

let stage: PageStage;
/** The tests share two sessions and run in order. The second one starts in plan mode. */
let session: string;
let planned: string;

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Presses the keys of a sequence until its page is there. */
const goBy = (page: Page, keys: readonly string[], address: RegExp): Promise<void> =>
  pressUntil(page, keys, async () => address.test(page.url()));

/** Waits until the field has the focus: until then, keys belong to the page. */
const hasFocus = (page: Page, field: Locator): Promise<void> => field.and(page.locator(":focus")).waitFor();

/** See `approvals.binary.test.ts`. */
export function testKeyboard(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.closeWindows(test));
  afterAll(() => stage.reset());

  test("starts, answers, messages, renames and finds a session", async () => {
    const page = await stage.open();
    await press(page, "n");
    const dialog = page.getByRole("dialog", { name: "New session" });
    await hasFocus(page, dialog.getByRole("textbox", { name: "Prompt" }));
    await page.keyboard.type("Run something");
    // The keys do nothing before the lists of the dialog have loaded.
    await expect.poll(() => dialog.getByRole("button", { name: "Start" }).isEnabled()).toBe(true);
    await press(page, "Control+Enter");
    await page.waitForURL(/\/sessions\/sesn_/);
    const address = page.url();
    session = new URL(address).pathname.split("/").at(-1)!;
    const talk = page.getByRole("log");
    const card = page.getByRole("article", { name: "Bash: echo first-run" });

    // Deny with a reason.
    await card.getByRole("button").first().waitFor();
    await pressUntil(page, "d", () => card.getByLabel("What should the agent do instead?").isVisible());
    await page.keyboard.type("Rather not");
    await press(page, "Enter");
    await talk.getByText("Denied").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });

    // Run it again and allow it.
    await press(page, "i");
    await page.keyboard.type("Run something");
    await press(page, "Enter");
    await card.getByRole("button", { name: "Allow once" }).waitFor();
    await press(page, "Escape");
    await page.evaluate("document.activeElement.blur()");
    await pressUntil(page, "a", async () => (await card.getByRole("button", { name: "Allow once" }).count()) === 0);
    await talk.getByText("It ran.").last().waitFor();

    await press(page, "Shift+R");
    await hasFocus(page, page.getByRole("textbox", { name: "Session name" }));
    await page.keyboard.type("By keys");
    await press(page, "Enter");
    await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();

    await goBy(page, ["g", "h"], /\/$/);
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await press(page, "Control+k");
    await hasFocus(page, page.getByRole("dialog").getByRole("combobox"));
    await page.keyboard.type("By keys");
    await page
      .getByRole("option", { name: /By keys/ })
      .first()
      .waitFor();
    await press(page, "Enter");
    await page.waitForURL(address);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("answers a question with digits and approves a plan", async () => {
    planned = await stage.start("Ask me", "plan");
    const page = await stage.open(`/sessions/${planned}`);
    const talk = page.getByRole("log");
    const question = page.getByRole("article", { name: /^Question/ });
    await question.getByRole("checkbox", { name: "Red" }).waitFor();
    await pressUntil(page, "1", () => question.getByRole("checkbox", { name: "Red" }).isChecked());
    await press(page, "n", "2");
    await expect.poll(() => question.getByRole("radio", { name: "Augusta" }).isChecked()).toBe(true);
    await press(page, "Control+Enter");
    await talk.getByText("Noted.").waitFor();
    await talk.getByText("Augusta").waitFor();

    await stage.send(planned, "Make a plan");
    const plan = page.getByRole("article", { name: /^Plan/ });
    await plan.getByRole("radio", { name: "Accept edits" }).waitFor();
    await pressUntil(page, "m", () => plan.getByRole("radio", { name: "Accept edits" }).isChecked());
    await press(page, "a");
    await talk.getByText("Carried out.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("navigates the inbox, the session list, the changes and the shortcuts sheet", async () => {
    const page = await stage.open();
    await stage.send(session, "Run something");
    await goBy(page, ["g", "i"], /\/inbox$/);
    await page.getByRole("article", { name: "Bash: echo first-run" }).waitFor();
    await stage.send(planned, "Run the edited");
    await page.getByRole("button", { name: /echo unedited/ }).waitFor();
    await press(page, "j");
    await page.getByRole("article", { name: "Bash: echo unedited" }).waitFor();
    await press(page, "k");
    await page.getByRole("article", { name: "Bash: echo first-run" }).waitFor();
    await pressUntil(page, "a", async () => (await page.getByRole("list", { name: "Just decided" }).count()) > 0);
    await pressUntil(page, "a", async () => await page.getByText("Nothing needs you").isVisible());
    await press(page, "h");
    await page.getByRole("img", { name: "Allowed" }).first().waitFor();

    await goBy(page, ["g", "h"], /\/$/);
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await press(page, "/");
    await page.keyboard.type("By keys");
    await page.getByRole("button", { name: "Clear" }).waitFor();
    await press(page, "Escape");
    // The search hides this session; a card that is focused before the list has changed back loses the focus.
    await page.locator(`[data-session="${planned}"]`).waitFor();
    // A running session is above a pinned one, which would then be the last of the list.
    await page.getByRole("region", { name: "Working" }).waitFor({ state: "detached" });
    await pressUntil(page, "j", () => page.evaluate("document.activeElement.hasAttribute('data-session-link')"));
    await press(page, "p");
    await page.getByText("pinned").first().waitFor();
    await press(page, "Enter");
    await page.waitForURL(/\/sessions\/sesn_/);

    // Escape leaves a field that has the focus.
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await press(page, "i", "Escape");
    const here = page.url();
    await press(page, "Alt+ArrowDown");
    await page.waitForURL((address) => /\/sessions\/sesn_/.test(address.href) && address.href !== here);
    await press(page, "Alt+ArrowUp");
    await page.waitForURL(here);
    await goBy(page, ["g", "d"], /view=changes/);
    await pressUntil(page, ["g", "t"], async () => !page.url().includes("view=changes"));
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await press(page, "?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.getByText("Search and commands").waitFor();
    await sheet.getByText("Write a message").waitFor();
    await sheet.getByText("Rewind", { exact: true }).waitFor();
    await press(page, "Escape");
    await sheet.waitFor({ state: "detached" });

    expect(stage.pageErrors()).toEqual([]);
  });

  test("assigns a custom key, keeps it after a reload and resets it", async () => {
    const page = await stage.open();
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    const newSession = page.getByRole("dialog", { name: "New session" });
    const keyOf = (label: string) => sheet.getByRole("button", { name: `change the key for “${label}”` });
    await press(page, "?");
    await keyOf("New session").click();
    await press(page, "/");
    await sheet.getByText("is already used here for “Search sessions”").waitFor();
    await press(page, "c");
    await sheet.getByRole("button", { name: "C: change the key for “New session”" }).waitFor();
    const assigned = sheet.getByRole("button", { name: "G then W: change" });
    await expect
      .poll(async () => {
        if (await assigned.isVisible()) return true;
        await keyOf("Go to inbox").click();
        await press(page, "g", "w");
        return false;
      })
      .toBe(true);
    await press(page, "Escape");
    await sheet.waitFor({ state: "detached" });

    await page.reload();
    await page.getByRole("button", { name: "New session" }).getByText("C", { exact: true }).waitFor();
    await press(page, "n", "c");
    await newSession.waitFor();
    await press(page, "Escape");
    await newSession.waitFor({ state: "detached" });
    await goBy(page, ["g", "w"], /\/inbox/);

    await press(page, "?");
    await sheet.getByRole("button", { name: "Reset all" }).click();
    await sheet.getByRole("button", { name: "N: change the key for “New session”" }).waitFor();
    await press(page, "Escape");
    await sheet.waitFor({ state: "detached" });
    await press(page, "n");
    await newSession.waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
