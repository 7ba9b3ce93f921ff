import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

interface Decided {
  state: string;
  changes: { path: string; hunks: { id: string; state: string; note?: string }[] }[];
}

const wiki = (page: string): string => join(stage.project, "context", "wiki", page);

/** See `context-pages.extended.test.ts`. */
export function testProposals(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("estimates a check with evals, and shows what the proposal fixes and breaks", async () => {
    const page = await stage.open(`/context/proposals`);
    await page.getByRole("link", { name: /^Ingest of docs/ }).click();
    const evals = page.getByRole("region", { name: "Evals" });
    await evals.getByText("20 eval questions can show what this proposal changes.").waitFor();
    await evals.getByRole("button", { name: "Check with evals" }).click();
    const dialog = page.getByRole("dialog", { name: "Run evals with this proposal" });
    await dialog.getByText("Model requests").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();

    const proposal = new URL(page.url()).pathname.split("/").at(-1)!;
    await stage.api("/v1/jobs", { kind: "evals", params: { proposal, ask: false } });
    await page.reload();
    await evals.getByText(/^Fixes \d+, breaks \d+$/).waitFor();
    await evals.getByRole("link", { name: "run" }).click();
    await page.getByText("Gold answers").waitFor();
    await expect.poll(() => page.getByText("16 of 16").count()).toBe(1);
  });

  test("accepts and rejects hunks, comments on them, edits them, accepts the rest, and undoes it", async () => {
    const page = await stage.open(`/context/proposals`);
    await page.getByRole("link", { name: /^Ingest of docs/ }).click();
    const hunk = (id: string) => page.getByRole("group", { name: new RegExp(`^Change ${id},`) });
    const id = new URL(page.url()).pathname.split("/").at(-1)!;
    const decided = async () => {
      const { changes } = await stage.api<Decided>(`/v1/proposals/${id}`);
      const found = changes.flatMap(({ hunks }) => hunks.map((one) => [one.id, one] as const));
      return Object.fromEntries(found);
    };

    await hunk("3").getByRole("button", { name: "Accept" }).click();
    await hunk("3").waitFor({ state: "detached" });
    expect(await readFile(wiki("metrics/delivery-time.md"), "utf8")).toContain("# Delivery time");

    await hunk("4").getByRole("button", { name: "Reject" }).click();
    await hunk("4").getByRole("textbox", { name: "Reason" }).fill("Finance has another one");
    await page.keyboard.press("Enter");
    await hunk("4").waitFor({ state: "detached" });
    expect((await decided())["4"]).toMatchObject({ state: "rejected", note: "Finance has another one" });
    expect(existsSync(wiki("metrics/revenue.md"))).toBe(false);

    // A line comment goes to an agent or becomes the reason of a rejection.
    const newsletter = page.getByRole("region", { name: "wiki/newsletter.md" });
    await newsletter.getByText("Metadata").waitFor();
    await newsletter.getByRole("button", { name: "Show source" }).click();
    await hunk("5")
      .getByRole("button", { name: /^Comment on line \d+, added$/ })
      .nth(4)
      .click();
    await page.getByRole("textbox", { name: /^Comment on line/ }).fill("Nobody reads this");
    await page.getByRole("button", { name: "Add comment" }).click();
    await page.reload();
    const comments = page.getByRole("region", { name: "Comments" });
    await comments.getByRole("button", { name: "Ask an agent …" }).click();
    const dialog = page.getByRole("dialog", { name: "New session" });
    const prompt = await dialog.getByRole("textbox", { name: "Prompt" }).inputValue();
    expect(prompt).toMatch(/proposal “Ingest of docs”.*`wiki\/newsletter\.md`, line \d+:.*Nobody reads this$/s);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await comments.getByRole("button", { name: "Reject this change with the comments" }).click();
    await comments.waitFor({ state: "detached" });
    expect((await decided())["5"]).toMatchObject({ state: "rejected", note: "Nobody reads this" });

    // The user's text replaces the proposed text. A shortcut accepts the remaining hunks.
    await page
      .getByRole("region", { name: "wiki/how-to/monthly-revenue.md" })
      .getByRole("button", { name: "Edit" })
      .click();
    const text = page.getByRole("textbox", { name: "Text of wiki/how-to/monthly-revenue.md" });
    await text.fill(`${await text.inputValue()}\nAsk Ada before the tenth.\n`);
    await page.getByRole("button", { name: "Use my text" }).click();
    await text.waitFor({ state: "detached" });
    expect(existsSync(wiki("how-to/monthly-revenue.md"))).toBe(false);
    await page.keyboard.press("Shift+a");
    await page.getByRole("button", { name: "Accept", exact: true }).last().click();
    await page.getByText("partly accepted").first().waitFor();
    expect(await readFile(wiki("how-to/monthly-revenue.md"), "utf8")).toContain("Ask Ada before the tenth.");

    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("dialog", { name: "Undo accepted changes?" }).getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => existsSync(wiki("how-to/monthly-revenue.md"))).toBe(false);
    expect(stage.pageErrors()).toEqual([]);
  });
}
