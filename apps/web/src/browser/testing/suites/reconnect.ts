import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBreakableProxy } from "../breakable-proxy.ts";
import type { PageStage } from "../page-stage.ts";
import { setTabVisibility } from "../set-tab-visibility.ts";

let stage: PageStage;
/** The tests share one session and run in order. */
let session: string;

const talkOf = (page: Page) => page.getByRole("log");
const lost = (page: Page) => page.getByText("Cannot reach the server. Reconnecting");
const newer = (page: Page) => page.getByRole("button", { name: "Reload" });

/** See `connections.binary.test.ts`. */
export function testReconnect(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.closeWindows(test));
  afterAll(() => stage.reset());

  test("answers an approval after the server was killed, resumes the turn, and offers the newer page", async () => {
    const page = await stage.openOwn();
    // Simulates an upgrade: the server returns the page of another build.
    await page.route(`${stage.url}/`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(/index-[\w-]+\.js/, "index-newer.js") });
    });
    session = await stage.start("Run it in spite of all");
    await page.goto(`${stage.url}/sessions/${session}`);
    const card = page.getByRole("article", { name: "Bash: echo after-all" });
    await card.getByRole("button", { name: "Allow once" }).waitFor();
    await stage.kill();
    await lost(page).waitFor();
    // The draft survives.
    await page.getByRole("textbox", { name: "Message" }).fill("And after that");
    await stage.restart();
    await lost(page).waitFor({ state: "detached" });
    await card.getByRole("button", { name: "Allow once" }).click();
    await talkOf(page).getByText("It ran after all.").waitFor();
    await talkOf(page).getByText("after-all", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("And after that");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await talkOf(page).getByText("That came after.").waitFor();
    expect(await talkOf(page).getByText("Run it in spite of all", { exact: true }).count()).toBe(1);

    await page.getByRole("textbox", { name: "Message" }).fill("Not sent yet");
    await Promise.all([page.waitForEvent("load"), newer(page).click()]);
    await talkOf(page).getByText("That came after.").waitFor();
    expect(await newer(page).count()).toBe(0);
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Not sent yet");
  });

  test("keeps two windows on one session in sync", async () => {
    await stage.send(session, "Run something");
    const windows = [await stage.open(), await stage.openOwn()];
    const [one, other] = windows as [Page, Page];
    for (const page of windows) {
      await page.goto(`${stage.url}/sessions/${session}`);
      await page.getByRole("article", { name: "Bash: echo first-run" }).getByRole("button").first().waitFor();
    }
    await one.getByRole("button", { name: "Allow once" }).click();
    for (const page of windows) {
      await talkOf(page).getByText("It ran.").waitFor();
      await page.getByRole("button", { name: "Allow once" }).waitFor({ state: "detached" });
    }
    await other.getByRole("textbox", { name: "Message" }).fill("Do that instead");
    await other.getByRole("button", { name: "Send", exact: true }).click();
    for (const page of windows) {
      await talkOf(page).getByText("Then I do that.").waitFor();
      for (const words of ["Run something", "It ran.", "Do that instead", "Then I do that."])
        expect([words, await talkOf(page).getByText(words, { exact: true }).count()]).toEqual([words, 1]);
    }
  });

  test("updates each visible tab, even with more tabs than connections", async () => {
    const first = await stage.openOwn();
    const tabs = [first, ...(await Promise.all(Array.from({ length: 6 }, () => first.context().newPage())))];
    for (const tab of tabs) {
      await tab.goto(`${stage.url}/sessions/${session}`);
      await talkOf(tab).getByText("Then I do that.").waitFor();
      if (tab !== tabs.at(-1)) await setTabVisibility(tab, "hidden");
    }
    const last = tabs.at(-1)!;
    await last.getByRole("textbox", { name: "Message" }).fill("Say hello");
    await last.getByRole("button", { name: "Send", exact: true }).click();
    await talkOf(last).getByText("Hello from the agent.").waitFor();
    await setTabVisibility(first, "visible");
    await talkOf(first).getByText("Hello from the agent.").waitFor();
    // When the tab that reads the feed is closed, another tab takes over.
    for (const tab of tabs.slice(0, -1)) await tab.close();
    await stage.send(session, "Run the edited");
    await last.goto(stage.url);
    await last.getByText("Needs you").first().waitFor();
    await last.goto(`${stage.url}/sessions/${session}`);
    await last.getByRole("button", { name: "Allow once" }).click();
    await talkOf(last).getByText("The edited one ran.").waitFor();
    expect(stage.pageErrors().filter((text) => !/ERR_/.test(text))).toEqual([]);
  });

  test("loses and repeats no word when it joins late and the connection breaks during an answer", async () => {
    await using line = await startBreakableProxy(stage.url);
    const page = await stage.openOwn({ url: line.url });
    await stage.send(session, "Count the words");
    await page.goto(`${line.url}/sessions/${session}`);
    await talkOf(page)
      .getByText(/\bword5\b/)
      .waitFor();
    await page.reload();
    await talkOf(page).getByText("word1 word2").waitFor();
    // The answer was shown while it streamed.
    expect(await talkOf(page).innerText()).not.toContain("word120");
    line.cut();
    await stage.release("words");
    await lost(page).waitFor();
    const looked = page.waitForResponse(`${line.url}/`);
    line.restore();
    await lost(page).waitFor({ state: "detached" });
    await talkOf(page)
      .getByText(/\bword120\b/)
      .waitFor();
    await (await looked).finished();
    expect(await newer(page).count()).toBe(0);
    const said = await talkOf(page)
      .getByText(/\bword120\b/)
      .innerText();
    expect(said.split(/\s+/)).toEqual(Array.from({ length: 120 }, (_, at) => `word${at + 1}`));
    expect(await talkOf(page).getByText("Count the words", { exact: true }).count()).toBe(1);

    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
    // A message that could not be sent stays in the field, with the reason.
    line.cut();
    await page.getByRole("textbox", { name: "Message" }).fill("A comment on your changes");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Message" }).inputValue())
      .toBe("A comment on your changes");
    line.restore();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await talkOf(page).getByText("I have read your comment.").waitFor();
  });
}
