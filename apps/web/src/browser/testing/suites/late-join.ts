import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** See `page.binary.test.ts`. */
export function testLateJoin(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach(() => stage.reset());

  test("joins in the middle of an answer and shows every word exactly once", async () => {
    const page = await stage.open(`/sessions/${await stage.start("Count the words")}`);
    const talk = page.getByRole("log");
    await talk.getByText("word5 word6").waitFor();
    await page.reload();
    await talk.getByText("word1 word2").waitFor();
    // The answer was shown while it streamed.
    const shown = await talk.innerText();
    expect(shown).not.toContain("word120");
    await talk.getByText("word120").waitFor();
    await expect
      .poll(async () => (await talk.innerText()).match(/word\d+/g))
      .toEqual(Array.from({ length: 120 }, (_, at) => `word${at + 1}`));
    expect(stage.pageErrors()).toEqual([]);
  });

  test("keeps the selected values while their lists are loading", async () => {
    const page = await stage.open();
    const begin = () =>
      page
        .getByRole("button", { name: /^New session/ })
        .first()
        .click();
    const where = page.getByRole("dialog", { name: "New session" }).getByLabel("Where");
    await begin();
    const place = `worktree:${stage.project}`;
    await where.selectOption(place);
    const gate = Promise.withResolvers<void>();
    await page.route("**/v1/environments*", async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.reload();
    await begin();
    await expect.poll(() => where.inputValue()).toBe(place);
    expect(await where.locator("option:checked").innerText()).toBe("Reading …");
    await page.getByLabel("Effort").selectOption("high");
    gate.resolve();
    await expect.poll(() => where.locator("option:checked").innerText()).toContain("in a worktree of its own");
    await expect.poll(() => where.inputValue()).toBe(place);
    expect(stage.pageErrors()).toEqual([]);
  });

  test("shows a finished session with the same text and without todo bookkeeping, and follows a deep link unless the user scrolls", async () => {
    const session = await stage.start("Look around");
    const page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("const one = 1;").waitFor();
    await page.goto(`${stage.url}/sessions/${session}?view=history`);
    const then = page.getByRole("log", { name: "Conversation up to this point" });
    await then.getByText("const one = 1;").waitFor();
    await then.getByText("notes.md", { exact: true }).first().waitFor();
    const told = await then.innerText();
    expect(told).not.toContain("Task");
    expect(told).not.toContain(stage.project);
    await page.getByRole("complementary", { name: "As it stood then" }).getByText("Write a summary").waitFor();

    // The page stays at the end if the user scrolls there before the deep link has loaded.
    const log = await stage.api<{ data: { event: { id: string; type: string } }[] }>(`/v1/sessions/${session}/log`);
    const { id } = log.data.find(({ event }) => event.type === "user.message")!.event;
    const gate = Promise.withResolvers<void>();
    await page.route("**/log?*", async (route) => {
      const { pathname, search } = new URL(route.request().url());
      // The page's signature covers the query, so a changed request is sent with the operator's token.
      if (!search.includes("before="))
        return route.fulfill({ json: await stage.api(pathname + search.replace(/limit=\d+/, "limit=1")) });
      await gate.promise;
      await route.continue();
    });
    await page.goto(`${stage.url}/sessions/${session}?part=${id}`);
    await page.getByRole("button", { name: "Latest" }).click();
    gate.resolve();
    await page.getByRole("log").getByText("Look around").waitFor();
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    const found = page.locator("[aria-current=location]");
    expect(await found.count()).toBe(0);
    // A user who does not scroll is taken to the linked part.
    await page.goto("about:blank");
    await page.goto(`${stage.url}/sessions/${session}?part=${id}`);
    await found.getByText("Look around").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("forks a session that has ended", async () => {
    const session = await stage.start("Change the notes", "acceptEdits");
    const page = await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText("Four.", { exact: true }).waitFor();
    await expect.poll(async () => (await stage.api<{ status: string }>(`/v1/sessions/${session}`)).status).toBe("idle");
    await stage.api(`/v1/sessions/${session}/archive`, {});
    await page.reload();
    await page.getByText("This session has ended.").waitFor();
    await page.getByRole("button", { name: "Fork …" }).click();
    const dialog = page.getByRole("dialog", { name: "Fork" });
    await dialog.getByLabel("Title").fill("What comes after");
    await dialog.getByRole("button", { name: "Fork" }).click();
    await page.getByRole("heading", { level: 1, name: "What comes after" }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Do that instead");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("log").getByText("Then I do that.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });

  test("brings back worktree changes as a patch or by a merge, and undoes it", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: stage.project });
    git("init", "-q", "-b", "main");
    git("add", "notes.md");
    git("commit", "-q", "-m", "Notes");
    const page = await stage.open();
    await page
      .getByRole("button", { name: /^New session/ })
      .first()
      .click();
    const dialog = page.getByRole("dialog", { name: "New session" });
    await dialog.getByRole("textbox", { name: "What is to be done" }).fill("Write it down here");
    await dialog.getByLabel("Agent").selectOption({ label: "Tester" });
    await dialog.getByLabel("Where").selectOption(`worktree:${stage.project}`);
    await dialog.getByRole("button", { name: "Start" }).click();
    await page
      .getByRole("article", { name: /^Bash: / })
      .getByRole("button", { name: "Allow once" })
      .click();
    await page.getByRole("log").getByText("Written down.").waitFor();
    const made = join(stage.project, "here.md");
    expect(existsSync(made)).toBe(false);

    const views = page.getByRole("navigation", { name: "Views of the session" });
    await views.getByRole("link", { name: "Changes" }).click();
    const worktree = page.getByRole("region", { name: "Worktree" });
    await worktree.getByRole("button", { name: "Apply as a patch …" }).click();
    const apply = page.getByRole("dialog", { name: "Apply as a patch" });
    await apply.getByText("Changes 1 file in").waitFor();
    await apply.getByText("here.md", { exact: true }).waitFor();
    expect(existsSync(made)).toBe(false);
    await apply.getByRole("button", { name: "Apply" }).click();
    await apply.waitFor({ state: "detached" });
    expect(await readFile(made, "utf8")).toBe("Here.\n");
    await worktree.getByRole("button", { name: "Undo the patch" }).click();
    await worktree.getByRole("button", { name: "Undo the patch" }).waitFor({ state: "detached" });
    expect(existsSync(made)).toBe(false);

    await views.getByRole("link", { name: "Talk" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("Commit it here");
    await page.getByRole("button", { name: "Send" }).click();
    await page
      .getByRole("article", { name: /^Bash: git/ })
      .getByRole("button", { name: "Allow once" })
      .click();
    await page.getByRole("log").getByText("It is committed.").waitFor();
    await views.getByRole("link", { name: "Changes" }).click();
    await worktree.getByText("1 commit, 1 file", { exact: true }).waitFor();
    await worktree.getByRole("button", { name: "Merge …" }).click();
    const merge = page.getByRole("dialog", { name: "Merge" });
    await merge.getByText("Brings 1 commit onto main, by moving it forward.").waitFor();
    expect(existsSync(made)).toBe(false);
    await merge.getByRole("button", { name: "Merge" }).click();
    await merge.waitFor({ state: "detached" });
    await worktree.getByText("merged into main", { exact: true }).waitFor();
    expect(git("log", "-1", "--format=%s", "main").toString().trim()).toBe("Here");
    expect(await readFile(made, "utf8")).toBe("Here.\n");
    const undo = worktree.getByRole("button", { name: "Undo the merge into main" });
    await undo.click();
    await undo.waitFor({ state: "detached" });
    expect(git("log", "-1", "--format=%s", "main").toString().trim()).toBe("Notes");
    expect(existsSync(made)).toBe(false);
    await rm(join(stage.project, ".git"), { recursive: true });
    expect(stage.pageErrors()).toEqual([]);
  });
}
