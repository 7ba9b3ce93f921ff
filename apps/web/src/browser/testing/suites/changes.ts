import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;
let session: string;
let page: Page;

const notes = (): Promise<string> => readFile(join(stage.project, "notes.md"), "utf8");
const view = (name: string): Promise<void> =>
  page.getByRole("navigation", { name: "Session views" }).getByRole("link", { name }).first().click();

/** See `session-pages.extended.test.ts`. */
export function testChanges(shared: () => PageStage): void {
  // The tests share one session with two turns and run in order.
  beforeAll(async () => {
    stage = shared();
    session = await stage.start("Change the notes", "acceptEdits");
    page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("Four.", { exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Change them more");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("log").getByText("Five, and six.").waitFor();
  });
  afterAll(() => stage.reset());

  test("shows changes per turn and in total, unified and side by side", async () => {
    await view("Changes");
    const file = page.getByRole("region", { name: "notes.md", exact: true });
    await file.getByText("One, two, three, four, five.").waitFor();
    await page.getByRole("region", { name: "more.md", exact: true }).waitFor();
    await page.getByRole("navigation", { name: "Turns" }).getByRole("button").nth(1).click();
    await page.getByRole("region", { name: "more.md", exact: true }).waitFor({ state: "detached" });
    await file.getByText("One, two, three, four.").waitFor();

    const split = page.getByRole("button", { name: /^Side by side/ });
    await split.click();
    await page.locator(".diff-split").first().waitFor();
    await page.getByRole("button", { name: /^Unified/ }).click();
    await page.locator(".diff-unified").first().waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("sends line comments to the agent", async () => {
    await page.locator(".diff-gutter-insert").last().click();
    await page.getByRole("textbox", { name: /^Comment on line/ }).fill("Why four?");
    await page.getByRole("button", { name: "Add comment" }).click();
    const bar = page.getByRole("region", { name: "Comments" });
    await bar.getByText("1 comment").waitFor();
    await bar.getByRole("button", { name: "Send to agent" }).click();
    const talk = page.getByRole("log");
    // The page switches to the chat, which shows path, line and comment as one message.
    const sent = talk.locator("[data-index]", { hasText: "A comment on your changes." });
    await sent.getByText(/^notes\.md, line \d+:/).waitFor();
    await sent.getByText("One, two, three, four", { exact: false }).waitFor();
    await sent.getByText("Why four?").waitFor();
    await talk.getByText("I have read your comment.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("previews a rewind, runs it and undoes it", async () => {
    await view("Changes");
    await page.getByRole("button", { name: /^Rewind …/ }).click();
    const dialog = page.getByRole("dialog", { name: "Rewind" });
    const turn = dialog.getByLabel("Rewind to before");
    await turn.selectOption(await turn.locator("option", { hasText: "Change them more" }).getAttribute("value"));
    await dialog.getByText("The agent forgets 2 turns.").waitFor();
    await dialog.getByText("2 files change").waitFor();
    expect(await notes()).toContain("five");
    await dialog.getByRole("button", { name: "Rewind" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("The session was rewound.").waitFor();
    expect(await notes()).not.toContain("five");
    expect(existsSync(join(stage.project, "more.md"))).toBe(false);
    await view("Chat");
    await page.getByRole("log").getByText("Rewound: no longer part of the agent’s conversation").first().waitFor();

    await page.getByRole("button", { name: "Undo rewind" }).click();
    await page.getByText("The session was rewound.").waitFor({ state: "detached" });
    await view("Changes");
    await page.getByRole("region", { name: "more.md", exact: true }).waitFor();
    expect(await notes()).toContain("five");
    expect(stage.pageErrors()).toEqual([]);
  });

  test("replays the history with messages, todos and files", async () => {
    await view("History");
    const track = page.getByRole("slider", { name: "Position in the session" });
    const then = page.getByRole("log", { name: "Conversation up to this point" });
    await then.getByText("I have read your comment.").waitFor();
    await track.focus();
    await page.keyboard.press("Home");
    await then.getByText("Change the notes").waitFor();
    await then.getByText("Four.", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Play" }).click();
    await then.getByText("Five, and six.").waitFor();
    const aside = page.getByRole("complementary", { name: "State at this point" });
    await track.focus();
    await page.keyboard.press("End");
    await aside.getByRole("button", { name: /more\.md/ }).click();
    await page.getByRole("dialog").getByText("Six.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("forks the session, forks it again after its end, and compares both", async () => {
    await view("Changes");
    const dialog = page.getByRole("dialog", { name: "Fork" });
    const fork = async (title: string): Promise<void> => {
      await page.getByRole("button", { name: /^Fork …/ }).click();
      await dialog.getByLabel("Title").fill(title);
      await dialog.getByRole("button", { name: "Fork" }).click();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    };
    await fork("The other way");
    await page.waitForURL((url) => url.pathname.startsWith("/sessions/") && !url.pathname.endsWith(session));
    await page.getByRole("log").getByText("I have read your comment.").waitFor();

    await stage.api(`/v1/sessions/${session}/archive`, {});
    await stage.open(`/sessions/${session}`);
    await page.getByText("This session has ended.").waitFor();
    await fork("What comes after");
    const after = page.url().split("/").at(-1)!;
    await page.getByRole("textbox", { name: "Message" }).fill("A comment on your changes");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("log").getByText("I have read your comment.").nth(1).waitFor();
    await page.getByRole("button", { name: "Edit and resend …" }).last().click();
    const resend = page.getByRole("dialog", { name: "Edit and resend" });
    await resend.getByLabel("Message").fill("Do that instead");
    await resend.getByRole("button", { name: /^Rewind and resend/ }).click();
    await page.getByRole("log").getByText("Then I do that.").waitFor();
    await page.getByRole("log").getByText("Rewound: no longer part").last().waitFor();

    await page.goto(`${stage.url}/sessions/${session}?view=changes`);
    await page.getByRole("button", { name: /^Compare …/ }).click();
    await page.getByRole("combobox", { name: "Right session" }).selectOption(after);
    await page.getByRole("article").nth(1).getByText("Then I do that.").waitFor();
    await page.getByRole("article").nth(0).getByText("I have read your comment.").waitFor();
    await page
      .getByRole("region", { name: "Files" })
      .getByRole("button", { name: /notes\.md/ })
      .click();
    await page.getByRole("button", { name: "Swap sides" }).click();
    await page.getByRole("article").nth(0).getByText("Then I do that.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
