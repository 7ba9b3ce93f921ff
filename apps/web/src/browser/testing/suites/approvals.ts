import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** The tests run in order and share two sessions, without another start of an agent. */
let session: string | undefined;
let other: string;

/** Sends a message to the shared session and awaits the approval. */
async function askInSession(
  words: string,
  card: string | RegExp,
): Promise<{ page: Page; card: Locator; talk: Locator }> {
  if (session === undefined) session = await stage.start(words);
  else await stage.send(session, words);
  const page = await stage.open(`/sessions/${session}`);
  const found = page.getByRole("article", { name: card });
  await found.getByRole("button").first().waitFor();
  return { page, card: found, talk: page.getByRole("log") };
}

const click = (place: Locator, name: string): Promise<void> =>
  place.getByRole("button", { name, exact: false }).click();

/** See `approvals.binary.test.ts`. */
export function testApprovals(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
    session = undefined;
  });

  afterAll(() => stage.reset());

  test("allows a call once and shows its output in place", async () => {
    const { card, talk } = await askInSession("Run something", "Bash: echo first-run");
    await card.getByText("echo first-run", { exact: true }).waitFor();
    await click(card, "Allow once");
    await talk.getByText("It ran.").waitFor();
    await talk.getByRole("button", { name: /^Ran echo first-run/ }).waitFor();
    await talk.getByText("first-run", { exact: true }).waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows the whole command on a phone", async () => {
    const { page, card, talk } = await askInSession("Run a long line", /^Bash: echo long/);
    const before = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 844 });
    const command = card.getByLabel("Code (bash)");
    await command.getByText("| cat").waitFor();
    expect(await command.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    await click(card, "Allow once");
    await talk.getByText("It was long.").waitFor();
    await page.setViewportSize(before);
  });

  test("denies a call with a reason that the agent receives", async () => {
    const { card, talk, page } = await askInSession("Try the forbidden", "Bash: echo forbidden-run");
    await click(card, "Deny …");
    await card.getByLabel("What should the agent do instead?").fill("Rather not now");
    await card.getByRole("button", { name: "Deny", exact: true }).click();
    await talk.getByText("Denied").waitFor();
    await talk
      .getByText(/Rather not now/)
      .first()
      .waitFor();

    // The audit of decisions names the user.
    await page.goto(`${stage.url}/inbox?view=decided`);
    const decided = page
      .getByRole("listitem")
      .filter({ has: page.getByLabel("Denied") })
      .first();
    await decided.getByRole("button").click();
    await decided.getByText("Rather not now").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test('shows an edit as a diff, and does not ask again after "for the session"', async () => {
    const { card, talk } = await askInSession("Change the notes", "Edit: notes.md");
    await card.getByText("One, two, three, four.").waitFor();
    await click(card, "Allow once");
    await talk.getByText("Four.", { exact: true }).waitFor();
    expect(await readFile(join(stage.project, "notes.md"), "utf8")).toContain("three, four.");

    const twice = await askInSession("Run it twice", "Bash: echo again-1");
    await click(twice.card, "Allow for this session");
    await twice.talk.getByText("Twice it ran.").waitFor();
    await twice.talk
      .getByRole("button", { name: /^Ran echo again-1/ })
      .nth(1)
      .waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("allows a call with an edited input", async () => {
    const { card, talk } = await askInSession("Run the edited", "Bash: echo unedited");
    await click(card, "Edit …");
    await card.getByLabel("command").fill("echo other-run");
    await click(card, "Allow with this input");
    await talk.getByText("other-run", { exact: true }).waitFor();
    await talk.getByText("The edited one ran.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("answers questions by one choice, several choices and free text", async () => {
    const { card, talk } = await askInSession("Ask me", "Question: Which colours? (and 1 more)");
    await card.getByRole("checkbox", { name: "Red" }).check();
    await card.getByRole("checkbox", { name: "Blue" }).check();
    expect(await card.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    await card.getByLabel("Which name? Other answer").fill("Grace, if I may");
    await click(card, "Send");
    await talk.getByText("Noted.").waitFor();
    await talk.getByText("Red, Blue").waitFor();
    await talk.getByText("Grace, if I may").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("previews a rule before saving it, applies it to other sessions and lists it", async () => {
    const { card, talk, page } = await askInSession("Run the same later", "Bash: echo again-3");
    await click(card, "Always allow");
    await card.getByLabel("Calls").fill("echo again-*");
    await card.getByRole("radio", { name: "Everywhere" }).check();
    await card.getByText("Bash(echo again-*)").last().waitFor();
    await click(card, "Save rule and allow");
    await talk.getByText("Once more it ran.").waitFor();

    other = await stage.start("Run it twice");
    await page.goto(`${stage.url}/sessions/${other}`);
    await talk.getByText("Twice it ran.").waitFor();
    await page.goto(`${stage.url}/settings/rules`);
    await page.getByText("Bash(echo again-*)").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows a plan in full and runs it in the chosen mode", async () => {
    const page = await stage.open(`/sessions/${session}`);
    const mode = page.getByLabel("Permission mode");
    const isSet = page.waitForResponse(
      (response) =>
        response.request().method() === "POST" && response.url().endsWith(`/v1/sessions/${session}`) && response.ok(),
    );
    await mode.selectOption("plan");
    await isSet;
    const { card, talk } = await askInSession("Make a plan", "Plan: The plan");
    await card.getByText("Touch a file.").waitFor();
    await card.getByText("touch files").waitFor();
    // The plan file is the line above.
    await talk.getByRole("button", { name: "Wrote the plan", expanded: false }).waitFor();
    expect(await talk.getByText("Touch a file.").count()).toBe(1);
    await card.getByRole("radio", { name: "Accept edits" }).check();
    await click(card, "Approve plan");
    await talk.getByText("Carried out.").waitFor();
    expect(await readFile(join(stage.project, "planned.md"), "utf8")).toBe("Planned.\n");
    await expect.poll(() => mode.inputValue()).toBe("acceptEdits");
    expect(stage.pageErrors()).toEqual([]);
  });

  test("lists and answers all approvals in the inbox", async () => {
    const page = await stage.open();
    await stage.send(session!, "Run something");
    await page
      .getByRole("navigation", { name: "Main" })
      .first()
      .getByRole("link", { name: /need you/ })
      .click();
    const card = page.getByRole("article", { name: "Bash: echo first-run" });
    await card.getByRole("link", { name: "Run something" }).waitFor();
    await stage.send(other, "Ask me");
    await page.getByRole("button", { name: /Question Which colours/ }).waitFor();
    await click(card, "Allow once");
    await page.getByRole("list", { name: "Just decided" }).getByText("Allowed").waitFor();
    const question = page.getByRole("article", { name: /^Question/ });
    await click(question, "Skip …");
    await click(question, "Skip");
    await page.getByText("Nothing needs you").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("allows a refused host once, in the session, and revokes it", async ({ skip }) => {
    const { sessions } = await stage.api<{ sessions: { sandbox: { on: boolean } } }>("/v1/status");
    if (!sessions.sandbox.on) skip("this machine has no sandbox");
    const { page, card, talk } = await askInSession("Reach a host", /^Bash: curl/);
    await click(card, "Allow once");
    await talk.getByText("It was refused.").waitFor();
    await talk.getByRole("button", { name: "Allow in this folder" }).waitFor();
    await page.goto(`${stage.url}/settings/sandbox`);
    await page.getByRole("listitem").filter({ hasText: "refused.example.com" }).getByText("1 ×").waitFor();
    await page.goto(`${stage.url}/sessions/${session}`);
    await click(talk, "Allow once");
    await talk.getByText(/refused\.example\.com is allowed for five minutes/).waitFor();
    await page.goto(`${stage.url}/settings/sandbox`);
    const grant = page.getByRole("listitem").filter({ hasText: "refused.example.com" });
    await grant.getByText(/until/).waitFor();
    await click(grant, "Revoke …");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("heading", { name: "Refused" }).waitFor();
    await page.getByText("1 ×").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("records a decision under the name of the user's own link", async () => {
    const { code } = await stage.api<{ code: string }>("/v1/sign_in/codes", { name: "Ana" });
    await stage.send(session!, "Run it in spite of all");
    const page = await stage.openSignedOut();
    await page.goto(`${stage.url}/#code=${code}`);
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.goto(`${stage.url}/sessions/${session}`);
    await click(page.getByRole("article", { name: "Bash: echo after-all" }), "Allow once");
    await page.getByRole("log").getByText("It ran after all.").waitFor();
    await page.goto(`${stage.url}/inbox?view=decided`);
    const newest = page.locator("#main").getByRole("listitem").first();
    await newest.getByText("echo after-all").waitFor();
    await newest.getByText("Ana").waitFor();
    await page.goto(`${stage.url}/settings/tokens`);
    await page.getByRole("listitem").filter({ hasText: "Ana" }).getByText("this browser").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
