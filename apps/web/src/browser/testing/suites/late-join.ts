import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** See `session-pages.extended.test.ts`. */
export function testLateJoin(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("keeps the selected values while their lists are loading", async () => {
    const page = await stage.open();
    const begin = () =>
      page
        .getByRole("button", { name: /^New session/ })
        .first()
        .click();
    const where = page.getByRole("dialog", { name: "New session" }).getByLabel("Work in");
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
    expect(await where.locator("option:checked").innerText()).toBe("Loading …");
    await page.getByLabel("Effort").selectOption("high");
    gate.resolve();
    await expect.poll(() => where.locator("option:checked").innerText()).toContain("in a new worktree");
    await expect.poll(() => where.inputValue()).toBe(place);
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
    await dialog.getByRole("textbox", { name: "Prompt" }).fill("Write it down here");
    await dialog.getByLabel("Agent").selectOption({ label: "Tester" });
    await dialog.getByLabel("Work in").selectOption(`worktree:${stage.project}`);
    await dialog.getByRole("button", { name: "Start" }).click();
    await page
      .getByRole("article", { name: /^Bash: / })
      .getByRole("button", { name: "Allow once" })
      .click();
    await page.getByRole("log").getByText("Written down.").waitFor();
    const made = join(stage.project, "here.md");
    expect(existsSync(made)).toBe(false);

    const views = page.getByRole("navigation", { name: "Session views" });
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

    await views.getByRole("link", { name: "Chat" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("Commit it here");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page
      .getByRole("article", { name: /^Bash: git/ })
      .getByRole("button", { name: "Allow once" })
      .click();
    await page.getByRole("log").getByText("It is committed.").waitFor();
    await views.getByRole("link", { name: "Changes" }).click();
    await worktree.getByText("1 commit, 1 file", { exact: true }).waitFor();
    await worktree.getByRole("button", { name: "Merge …" }).click();
    const merge = page.getByRole("dialog", { name: "Merge" });
    await merge.getByText("Merges 1 commit into main, as a fast-forward.").waitFor();
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
