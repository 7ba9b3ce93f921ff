import { parseCassette } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";
import { pressUntil } from "../press-until.ts";

let stage: PageStage;
/** The session of the first tests, then of the last ones: they run in order, with two starts of an agent. */
let session: string;

/** Runs in the browser. A linked part is marked for seconds only, which a busy machine can miss. */
const NOTE_MARKED = `globalThis.marked = new Set();
  new MutationObserver(() => {
    for (const part of document.querySelectorAll("[aria-current=location]"))
      for (const text of part.innerText.split("\\n")) marked.add(text.trim());
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["aria-current"] });`;

/** See `session-pages.extended.test.ts`. */
export function testSessionLifecycle(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.closeWindows(test));
  afterAll(() => stage.reset());

  test("starts with every option and streams", async () => {
    const page = await stage.open();
    await page.getByRole("button", { name: "Start a session" }).click();
    const dialog = page.getByRole("dialog", { name: "New session" });
    await dialog.getByRole("textbox", { name: "Prompt" }).fill("Look around");
    await dialog.getByLabel("Agent").selectOption({ label: "Tester" });
    await dialog.getByLabel("Work in").selectOption("folder");
    await dialog.getByRole("textbox", { name: "Folder" }).fill(stage.project);
    await dialog.getByLabel("Model").selectOption({ index: 1 });
    await dialog.getByLabel("Effort").selectOption("high");
    await dialog.getByLabel("Permission mode").selectOption("acceptEdits");
    await dialog.getByLabel("Budget, in dollars").fill("2.50");
    await dialog.getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/\/sessions\/sesn_/);
    session = new URL(page.url()).pathname.split("/").at(-1)!;

    const talk = page.getByRole("log");
    await talk.getByText("Look around", { exact: true }).waitFor();
    // Parallel calls are grouped, thoughts and calls are folded, and todo lists are shown as lists.
    await talk.getByRole("button", { name: /^Thought/ }).click();
    await talk.getByText("First I see what there is.").last().waitFor();
    await talk.getByRole("button", { name: /Read 1 file, listed once/ }).click();
    await talk.getByRole("button", { name: /^Searched for/ }).waitFor();
    await page.getByRole("region", { name: "To do" }).getByRole("button", { name: "1 of 2 done" }).click();
    await page.getByRole("region", { name: "To do" }).getByText("Write a summary").waitFor();
    await talk.getByRole("cell", { name: "notes.md" }).waitFor();
    await talk.getByText("const one = 1;").waitFor();

    await expect.poll(() => page.getByLabel("Permission mode").inputValue()).toBe("acceptEdits");
    await expect.poll(() => page.getByLabel("Effort").inputValue()).toBe("high");
    await expect.poll(() => page.getByLabel("Model").inputValue()).not.toBe("");
    await page.getByRole("button", { name: /of \$2\.50/ }).click();
    await page.getByRole("dialog", { name: "Cost" }).getByText("This session").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows a finished session with the same text and without todo bookkeeping, and follows a deep link unless the user scrolls", async () => {
    const page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("const one = 1;").waitFor();
    await page.goto(`${stage.url}/sessions/${session}?view=history`);
    const then = page.getByRole("log", { name: "Conversation up to this point" });
    await then.getByText("const one = 1;").waitFor();
    await then.getByText("notes.md", { exact: true }).first().waitFor();
    const told = await then.innerText();
    expect(told).not.toContain("Task");
    expect(told).not.toContain(stage.project);
    await page.getByRole("complementary", { name: "State at this point" }).getByText("Write a summary").waitFor();

    // A link far back shows its part first, and loads the messages in between without moving.
    const log = await stage.api<{ data: { event: { id: string; type: string } }[] }>(`/v1/sessions/${session}/log`);
    const { id } = log.data.find(({ event }) => event.type === "user.message")!.event;
    let gate = Promise.withResolvers<void>();
    await page.route("**/log?*", async (route) => {
      const { pathname, search } = new URL(route.request().url());
      // The page's signature covers the query, so a changed request is sent with the operator's token.
      if (!search.includes("before="))
        return route.fulfill({ json: await stage.api(pathname + search.replace(/limit=\d+/, "limit=1")) });
      await gate.promise;
      await route.continue();
    });
    const isFound = () => page.evaluate(`marked.has("Look around")`);
    await using _ = await page.addInitScript({ content: NOTE_MARKED });
    const gap = page.getByRole("log").getByText("Loading …", { exact: true });
    await page.goto(`${stage.url}/sessions/${session}?part=${id}`);
    await expect.poll(isFound).toBe(true);
    await gap.waitFor();
    const place = () => page.getByRole("log").getByText("Look around", { exact: true }).boundingBox();
    let before = await place();
    // The list measures its rows after it has shown them.
    await expect
      .poll(async () => {
        const earlier = before;
        before = await place();
        return isDeepStrictEqual(before, earlier);
      })
      .toBe(true);
    gate.resolve();
    await gap.waitFor({ state: "detached" });
    await page.getByRole("log").getByText("First I see").waitFor({ state: "attached" });
    await expect.poll(place).toEqual(before);
    // It stays at the end if the user goes there before the messages in between have loaded.
    gate = Promise.withResolvers<void>();
    await page.goto("about:blank");
    await page.goto(`${stage.url}/sessions/${session}?part=${id}`);
    await gap.waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Latest" }).click();
    gate.resolve();
    await gap.waitFor({ state: "detached" });
    await page.getByRole("log").getByText("const one = 1;").waitFor();
    const fromEnd =
      "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector('[role=log]'))";
    await expect.poll(() => page.evaluate(fromEnd)).toBeLessThan(48);
    await page.unrouteAll();
    // A user who does not scroll is taken to the linked part.
    await page.goto("about:blank");
    await page.goto(`${stage.url}/sessions/${session}?part=${id}`);
    await expect.poll(isFound).toBe(true);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("nests subagents with their approvals and calls", async () => {
    await stage.send(session, "Send a scout");
    const page = await stage.open(`/sessions/${session}`);
    await page
      .getByRole("article", { name: "Bash: echo deep-water" })
      .getByRole("button", { name: "Allow once" })
      .click();
    const talk = page.getByRole("log");
    await talk.getByText("A river, it says.").waitFor();
    // After the answer, the work is shown only inside the subagent.
    await talk.getByRole("button", { name: /deep-water/ }).waitFor({ state: "detached" });
    await talk.getByRole("button", { name: /scout/ }).click();
    await talk.getByRole("button", { name: /Ran echo deep-water/ }).waitFor();
    await talk.getByText("There is a river.").last().waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("queues, steers and stops", async () => {
    await stage.send(session, "Take your time");
    const page = await stage.open(`/sessions/${session}`);
    const talk = page.getByRole("log");
    const message = page.getByRole("textbox", { name: "Message" });
    const send = (words: string, by: string) =>
      message.fill(words).then(() => page.getByRole("button", { name: by, exact: true }).click());
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await send("And after that", "Queue");
    await talk.getByText("Queued").waitFor();
    await expect.poll(() => message.inputValue()).toBe("");
    await stage.release("time");
    await talk.getByText("I took my time.").waitFor();
    await talk.getByText("That came after.").waitFor();
    await talk.getByText("Queued").waitFor({ state: "detached" });

    const running = talk.getByRole("button", { name: /tail -F notes\.md.*Running/ });
    const stop = page.getByRole("button", { name: "Stop", exact: true });
    await send("Work for long", "Send");
    await page
      .getByRole("article", { name: "Bash: tail -F notes.md" })
      .getByRole("button", { name: "Allow for this session" })
      .click();
    await running.waitFor();
    await stop.click();
    await talk.getByText("Stopped here").waitFor();
    await stop.waitFor({ state: "detached" });

    // The agent receives the message when the running call ends. The call ends when the file exists.
    await send("Work until it is there", "Send");
    await page.getByRole("article").getByRole("button", { name: "Allow once" }).click();
    await talk.getByRole("button", { name: /until test.*Running/ }).waitFor();
    await send("Do that instead", "Steer");
    await stage.release("there");
    await talk.getByText("Then I do that.").waitFor();
    await stop.waitFor({ state: "detached" });
    expect(stage.pageErrors()).toEqual([]);
  });

  test("renames, pins and archives on the session's own page, also while an approval is pending", async () => {
    const page = await stage.open();
    await stage.send(session, "Run something");
    const choose = async (name: string, item: string): Promise<void> => {
      await page.getByRole("button", { name }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    const dialog = page.getByRole("dialog");
    // A session with a pending approval is a card on the session list.
    await page.getByRole("region", { name: "Needs you" }).locator(`[data-session="${session}"]`).waitFor();
    await choose("Actions for Look around", "Rename");
    await dialog.getByLabel("Title").fill("Waits here");
    await page.keyboard.press("Enter");
    await page.locator(`[data-session="${session}"]`).getByRole("link", { name: "Waits here" }).click();

    await page.getByRole("heading", { level: 1, name: "Waits here" }).waitFor();
    await choose("Session actions", "Rename");
    await dialog.getByLabel("Title").fill("Waits there");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name: "Waits there" }).waitFor();
    await choose("Session actions", "Pin");
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Unpin" }).waitFor();
    await page.keyboard.press("Escape");
    await choose("Session actions", "Archive …");
    await dialog.getByRole("button", { name: "Archive" }).click();
    // Archiving leaves the page and removes the session from the list.
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Waits there" }).first().waitFor({ state: "detached" });
    expect(stage.pageErrors()).toEqual([]);
  });

  test("renames and exports", async () => {
    session = await stage.start("Say hello");
    const page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("Hello from the agent.").waitFor();
    // The answer is shown before it is in the log, which is exported.
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).getByRole("button").click();
    await page.getByRole("textbox", { name: "Session name" }).fill("A better name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "A better name" }).waitFor();

    await page.getByRole("button", { name: "Session actions" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
    const exported = await download;
    expect(exported.suggestedFilename()).toBe("a-better-name.md");
    expect(await readFile(await exported.path(), "utf8")).toBe(
      "# A better name\n\n## You\n\nSay hello\n\nHello from the agent.\n",
    );
    expect(stage.pageErrors()).toEqual([]);
  });

  test("highlights a failed turn and retries it", async () => {
    await stage.send(session, "Go wrong at first");
    const page = await stage.open();
    const board = page.getByRole("region", { name: /^Stuck/ });
    await board.getByText("stopped after repeated errors").waitFor();
    await board.getByRole("link", { name: "A better name" }).click();
    await page.waitForURL(new RegExp(session));
    const talk = page.getByRole("log");
    await talk.getByText("The account has no credit for this").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a test case" }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toBe("a-better-name.cassette.jsonl");
    expect(parseCassette(await readFile(await saved.path(), "utf8")).header.session_id).toBe(session);
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Save as a test case" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await stage.release("credit");
    await page.keyboard.press("t");
    await talk.getByText("It went well this time.").waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor({ state: "detached" });
    expect(await talk.getByText("Go wrong at first").count()).toBe(2);
    await pressUntil(page, ["g", "h"], async () => page.url() === `${stage.url}/`);
    await page.getByRole("region", { name: /^Idle/ }).getByRole("link", { name: "A better name" }).waitFor();
    await board.waitFor({ state: "detached" });
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows an outcome with its evaluations, and the result on the list", async () => {
    const command = "if [ -e graded ]; then rm graded; else touch graded; echo Not yet.; false; fi";
    const rubric = { type: "text", content: "It must be **friendly**." };
    const outcome = { type: "user.define_outcome", description: "Say hello", rubric };
    const tandem = { grader: { type: "command", command } };
    const page = await stage.open(`/sessions/${session}`);
    await stage.api(`/v1/sessions/${session}/events`, { events: [{ ...outcome, tandem }] });
    const talk = page.getByRole("log");
    await talk.getByText("Outcome · at most 3 evaluations").waitFor();
    await talk.getByRole("region", { name: "Evaluation 1" }).getByText("Needs revision").waitFor();
    await talk.getByRole("region", { name: "Evaluation 1" }).getByText("Not yet.").waitFor();
    await talk.getByRole("region", { name: "Evaluation 2" }).getByText("Satisfied").waitFor();
    await talk.getByText("Rubric").click();
    await talk.getByText("friendly").waitFor();
    await stage.open();
    await page.locator(`[data-session="${session}"]`).getByText("outcome satisfied").first().waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("pins, renames and archives on the list", async () => {
    const page = await stage.open();
    const row = page.locator(`[data-session="${session}"]`);
    const more = row.getByRole("button", { name: "Actions for A better name" });
    await more.click();
    await page.getByRole("menuitem", { name: "Pin" }).click();
    await row.getByText("pinned").waitFor();
    await more.click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByRole("dialog").getByLabel("Title").fill("The best name");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await row.getByRole("link", { name: "The best name" }).waitFor();
    await row.getByRole("button", { name: "Actions for The best name" }).click();
    await page.getByRole("menuitem", { name: "Archive …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Show archived sessions" }).click();
    await page.getByRole("region", { name: "Archived" }).getByRole("link", { name: "The best name" }).click();
    await page.getByText("This session has ended.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
