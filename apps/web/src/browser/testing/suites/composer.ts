import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertFiles, PICTURE, textFile } from "../insert-files.ts";
import type { PageStage } from "../page-stage.ts";
import { setTabVisibility } from "../set-tab-visibility.ts";

let stage: PageStage;

const message = (page: Page) => page.getByRole("textbox", { name: "Message" });
const talkOf = (page: Page) => page.getByRole("log");

/** The tests share two sessions and run in order. */
let session: string;
let another: string;
const openSession = async (): Promise<Page> => {
  const page = await stage.open(`/sessions/${session}`);
  await talkOf(page).getByText("Hello from the agent.").waitFor();
  return page;
};

/** See `session-pages.extended.test.ts`. */
export function testComposer(shared: () => PageStage): void {
  beforeAll(async () => {
    stage = shared();
    const commands = join(stage.project, ".claude", "commands");
    await mkdir(commands, { recursive: true });
    await writeFile(join(commands, "greet.md"), "---\ndescription: Says it\n---\nDo that instead, $ARGUMENTS.\n");
    session = await stage.start("Say hello");
  });
  afterAll(() => stage.reset());

  test("sends pasted and dropped files to the agent, but not a removed one", async () => {
    const page = await openSession();
    await insertFiles(message(page), "paste", [PICTURE, textFile("not-this.txt", "left out")]);
    await page.getByRole("button", { name: "Remove not-this.txt" }).click();
    // Dropping next to the field works too.
    await insertFiles(talkOf(page), "drop", [textFile("words.txt", "alpha and omega")]);
    await page.getByText("words.txt").waitFor();
    await message(page).fill("What do you see");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await talkOf(page).getByText("1 picture, the words alpha and omega.").waitFor();
    const picture = talkOf(page).getByRole("img", { name: "Attachment" });
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    const download = page.waitForEvent("download");
    await talkOf(page).getByRole("button", { name: "words.txt" }).click();
    expect((await download).suggestedFilename()).toBe("words.txt");
    expect(await page.getByText("not-this.txt").count()).toBe(0);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("attaches files to a new session; the page below the dialog gets none", async () => {
    const page = await openSession();
    await page.keyboard.press("n");
    const dialog = page.getByRole("dialog", { name: "New session" });
    const prompt = dialog.getByRole("textbox", { name: "Prompt" });
    await insertFiles(prompt, "drop", [PICTURE]);
    await insertFiles(prompt, "paste", [textFile("words.txt", "alpha and omega")]);
    await dialog.getByRole("button", { name: "Remove words.txt" }).waitFor();
    await dialog.getByLabel("Agent").selectOption({ label: "Tester" });
    await prompt.fill("What do you see");
    const before = page.url();
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.waitFor({ state: "detached" });
    // The session before has the same answer.
    await page.waitForURL(({ href }) => href !== before);
    await talkOf(page).getByText("1 picture, the words alpha and omega.").waitFor();
    another = new URL(page.url()).pathname.split("/").at(-1)!;
    await page.goBack();
    await talkOf(page).getByText("Hello from the agent.").waitFor();
    expect(await page.getByRole("button", { name: /^Remove / }).count()).toBe(0);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("completes commands after `/` and files after `@`", async () => {
    const page = await openSession();
    await message(page).pressSequentially("/gre");
    const command = page.getByRole("listbox", { name: "Commands" }).getByRole("option", { name: /greet/ });
    await command.getByText("Says it").waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => message(page).inputValue()).toBe("/greet ");
    await message(page).pressSequentially("see @not");
    await page.getByRole("listbox", { name: "Files" }).getByRole("option", { name: "@notes.md" }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => message(page).inputValue()).toBe("/greet see @notes.md ");
    // The list is closed, so Enter sends now.
    await page.keyboard.press("Enter");
    await talkOf(page).getByText("Then I do that.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows command output as a page, and the context gauge after a compaction", async () => {
    const page = await openSession();
    await message(page).fill("/context ");
    await message(page).press("Enter");
    await talkOf(page).getByRole("cell", { name: "System prompt" }).waitFor();
    await message(page).fill("/compact ");
    await message(page).press("Enter");
    await talkOf(page)
      .getByText(/Compacted on request · .+ → /)
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Context window:/ }).click();
    const details = page.getByRole("dialog", { name: "Context" });
    await details.getByText("Instructions and tools").waitFor();
    expect(await details.getByText("Last request").count()).toBe(0);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("notifies a user in another tab of a pending approval without its content", async () => {
    const page = await stage.openOwn();
    // Chromium's headless shell denies notifications whatever the context grants.
    await page.addInitScript(`globalThis.told = [];
    globalThis.Notification = new Proxy(Notification, {
      get: (target, key) => (key === "permission" ? "granted" : Reflect.get(target, key)),
      construct(target, args) {
        const made = Reflect.construct(target, args);
        told.push({ title: args[0], body: args[1].body, made });
        return made;
      },
    });`);
    await page.goto(`${stage.url}/settings/appearance`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    const told = (): Promise<unknown> => page.evaluate("told.map(({ title, body }) => ({ title, body }))");
    // A visible page sends no notification.
    await stage.send(session, "Run something");
    await expect.poll(() => page.title()).toMatch(/^\(1\)/);
    expect(await told()).toEqual([]);

    await setTabVisibility(page, "hidden");
    await stage.send(another, "Run it twice");
    await expect.poll(told).toEqual([{ title: "What do you see", body: "Tester asks to use Bash" }]);
    await page.evaluate(`told[0].made.dispatchEvent(new Event("click"))`);
    await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
    await page.getByText("echo again-1").first().waitFor();
    expect(new URL(page.url()).pathname).toBe("/inbox");
    expect(stage.pageErrors()).toEqual([]);
  });
}
