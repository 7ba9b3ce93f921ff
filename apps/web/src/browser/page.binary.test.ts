import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { barriers, browserPath, setPageStage, type PageStage } from "./testing/page-stage.ts";

let stage: PageStage;

/** Two keystrokes, and the words between them. */
async function begin(page: Page, words: string): Promise<void> {
  await page.keyboard.press("n");
  await page.getByRole("dialog").getByRole("textbox").first().waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/sessions\/sesn_/);
}

describe.skipIf(browserPath === undefined)("the page in a browser", () => {
  beforeAll(async () => {
    stage = await setPageStage();
  }, 120_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  test("a link signs in once; no code stays in the address, and no script can read the cookie", async () => {
    const link = await stage.link();
    const { page, errors, outside } = await stage.open();
    expect(page.url()).toBe(`${stage.url}/`);
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.reload();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();

    const stranger = await page.context().browser()!.newContext();
    const other = await stranger.newPage();
    await other.goto(stage.url);
    await other.getByText("This browser is not signed in.").waitFor();
    await other.goto(link);
    await other.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await stranger.clearCookies();
    await other.goto("about:blank");
    await other.goto(link);
    await other.getByText("This link is not valid any more.").waitFor();
    expect(errors).toEqual([]);
    expect(outside).toEqual([]);
  });

  test("a session by the keyboard alone: begun, answered, found again", async () => {
    const { page, errors, outside } = await stage.open();
    await begin(page, "What is in this folder?");
    const talk = page.getByRole("log");
    await talk.getByText("What is in this folder?").first().waitFor();
    await talk.getByText("This answer is scripted").first().waitFor();
    const address = page.url();

    await page.keyboard.press("Escape");
    await page.locator("body").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("What is in");
    await page
      .getByRole("option", { name: /What is in this folder/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(address);
    expect(errors).toEqual([]);
    expect(outside).toEqual([]);
  });

  test("a server that dies is waited for, and nothing is missed", async () => {
    const { page } = await stage.open();
    await begin(page, "Before the crash");
    await page.getByRole("log").getByText("Before the crash").first().waitFor();
    await stage.restart();
    await page.getByRole("textbox", { name: "Message" }).fill("After the crash");
    await page
      .getByText(/connection .*lost/i)
      .first()
      .waitFor({ state: "hidden" });
    await page.keyboard.press("Enter");
    const talk = page.getByRole("log");
    await talk.getByText("After the crash", { exact: true }).first().waitFor();
    // What was said before is there still, and once.
    expect(await talk.getByText("Before the crash", { exact: true }).count()).toBe(1);
  });

  const looks = [
    { name: "light", options: { colorScheme: "light" as const } },
    { name: "dark", options: { colorScheme: "dark" as const } },
    { name: "a phone", options: { viewport: { width: 390, height: 844 }, colorScheme: "dark" as const } },
  ];
  test.each(looks)("has no barriers: $name", async ({ options }) => {
    const { page, errors, outside } = await stage.open(options);
    const found: Record<string, string[]> = {};
    const session = await page.evaluate(
      "fetch('/v1/sessions?limit=1').then((r) => r.json()).then((b) => b.data[0].id)",
    );
    for (const path of ["/", `/sessions/${String(session)}`, "/inbox", "/context", "/settings/status"]) {
      await page.goto(`${stage.url}${path}`);
      await page.locator("#main h1:visible").first().waitFor();
      const here = await barriers(page);
      if (here.length > 0) found[path.split("/", 2).join("/")] = here;
    }
    expect(found).toEqual({});
    // The project has no context: the server says so by a 404, and the page in words.
    expect(errors.filter((text) => !text.includes("404"))).toEqual([]);
    expect(outside).toEqual([]);
  });
});
