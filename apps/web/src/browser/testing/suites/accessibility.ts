import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SETTINGS_PAGES } from "../../../settings/settings-pages.ts";
import { NOTHING, SCREENS, Walk, type Places } from "../accessibility-walk.ts";
import type { PageStage } from "../page-stage.ts";
import { pressUntil } from "../press-until.ts";
import { COMPARISON, REPLAY, reportPath } from "../sample-reports.ts";

let stage: PageStage;
let places: Places;

/** Creates sessions in every state, so that no page is empty. */
async function createSessions(): Promise<void> {
  const page = await stage.open();
  const words = ["Change the notes", "Ask me", "Run something", "Look around"];
  const [edit, question, archived, looked] = (await Promise.all(words.map((each) => stage.start(each, "default")))) as [
    string,
    string,
    string,
    string,
  ];
  const plan = await stage.start("Make a plan", "plan");
  const isThere = async (session: string, text: string): Promise<void> => {
    await stage.open(`/sessions/${session}`);
    await page.getByRole("log").getByText(text, { exact: true }).waitFor();
  };
  await stage.open(`/sessions/${archived}`);
  await page.getByRole("button", { name: "Allow once" }).click();
  await isThere(archived, "It ran.");
  await stage.api(`/v1/sessions/${archived}/archive`, {});
  // Both sessions edit the same line. Answer the pending edit first; the other edit would make its approval stale.
  await stage.open(`/sessions/${edit}`);
  await page.getByRole("article", { name: "Edit: notes.md" }).waitFor();
  await isThere(looked, "const one = 1;");
  await stage.api(`/v1/sessions/${looked}`, { metadata: { "tandem.permission_mode": "acceptEdits" } });
  await stage.send(looked, "Change the notes");
  await isThere(looked, "Four.");
  await stage.api("/v1/rules", { action: "ask", tool: "Bash", pattern: "git push *", scope: "user", reason: "Ours" });
  places = {
    "all sessions": ["/", "Needs you"],
    "archived sessions": ["/?archived=true", "Run something"],
    "no session that fits": ["/?q=nothing-like-it", "No matching sessions"],
    "a session": [`/sessions/${looked}`, "const one = 1;"],
    "a session that asks about an edit": [`/sessions/${edit}`, "Allow once"],
    "a session with a question": [`/sessions/${question}`, "Which colours?"],
    "a session with a plan": [`/sessions/${plan}`, "Approve plan"],
    "a session that has ended": [`/sessions/${archived}`, "This session has ended."],
    changes: [`/sessions/${looked}?view=changes`, "One, two, three, four."],
    history: [`/sessions/${looked}?view=history`, "Cost so far"],
    "two sessions": [`/compare?a=${looked}&b=${archived}`, "It ran."],
    "no two sessions": ["/compare", "Choose two sessions"],
    "no report": ["/cassettes", "Drop a report here"],
    "a replay that differs": [reportPath(REPLAY), "Step 2 of 3 (call) differs."],
    "two runs": [reportPath(COMPARISON), "Two tests fail."],
    "what waits": ["/inbox", /Allow once|Approve plan|Which colours/],
    "what was decided": ["/inbox?view=decided", "echo first-run"],
    ...Object.fromEntries(
      SETTINGS_PAGES.map(({ name, label }) => [`settings: ${label}`, [`/settings/${name}`, label]] as const),
    ),
    "all settings": ["/settings", "Budgets"],
    "no such page": ["/nowhere", NOTHING],
    "no such settings": ["/settings/nowhere", NOTHING],
    "no such session": ["/sessions/sesn_01AAAAAAAAAAAAAAAAAAAAAAAA", NOTHING],
  };
}

/** Dialogs and menus: the page, and the action that opens them. */
const dialogs: Record<string, { at: string; open: (page: Page) => Promise<void> }> = {
  "new session": { at: "all sessions", open: (page) => page.keyboard.press("n") },
  palette: { at: "all sessions", open: (page) => page.keyboard.press("Control+k") },
  keys: { at: "a session", open: (page) => page.keyboard.press("?") },
  "stop everything": {
    at: "all sessions",
    open: (page) => pressUntil(page, ["x", "x"], () => page.getByRole("dialog").isVisible()),
  },
  rename: { at: "all sessions", open: (page) => choose(page, "Rename") },
  archive: { at: "all sessions", open: (page) => choose(page, "Archive …") },
  menu: { at: "a session", open: (page) => page.getByRole("button", { name: "Session actions" }).click() },
  money: { at: "a session", open: (page) => page.getByRole("button", { name: /spent$/ }).click() },
  rewind: { at: "changes", open: (page) => page.getByRole("button", { name: /^Rewind …/ }).click() },
  fork: { at: "changes", open: (page) => page.getByRole("button", { name: /^Fork …/ }).click() },
  comment: { at: "changes", open: (page) => page.locator(".diff-gutter-insert").last().click() },
};

async function choose(page: Page, item: string): Promise<void> {
  await page
    .getByRole("button", { name: /^Actions for/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Runs in the browser. Resolves when the page's key is deleted. */
const FORGET = `new Promise((resolve) => {
  localStorage.clear();
  indexedDB.deleteDatabase("tandem").onsuccess = () => resolve();
})`;

/** Panels of an approval card. */
const panels: Record<string, string> = {
  "denied with words": "Deny …",
  "always, by a rule": "Always allow",
  "with another input": "Edit …",
};

const namesOf = (part: "settings" | "others"): string[] =>
  Object.keys(places).filter((name) => places[name]![0].startsWith("/settings") === (part === "settings"));

/** See `accessibility.extended.test.ts`. Several tests, because one would take longer than a test may. */
export function testAccessibility(shared: () => PageStage): void {
  beforeAll(async () => {
    stage = shared();
    await createSessions();
  });
  afterAll(() => stage.reset());

  describe.each(Object.entries(SCREENS))("accessible and fitting the screen: %s", (_, screen) => {
    const walk = (steps: (made: Walk) => Promise<void>) => Walk.take(stage, places, screen, steps);

    test("sessions, the inbox, reports and pages that do not exist", async () => {
      const violations = await walk(async (made) => {
        for (const name of namesOf("others")) await made.visit(name);
        // Simulates a missing chunk, as after a server upgrade.
        await made.page.route("**/assets/inbox-page*", (route) => route.abort());
        await made.page.goto(`${stage.url}/inbox`);
        await made.page.getByText("The page has been updated").waitFor();
        await made.look("a page that broke");
      });
      expect(violations).toEqual({});
    });

    test("settings, and signing in", async () => {
      const violations = await walk(async (made) => {
        for (const name of namesOf("settings")) await made.visit(name);
        await made.page.evaluate(FORGET);
        await made.page.goto(`${stage.url}/?signed-out`);
        await made.page.getByText("This browser is not signed in.").waitFor();
        await made.look("signing in");
      });
      expect(violations).toEqual({});
    });

    test("dialogs, menus and panels of an approval", async () => {
      const violations = await walk(async (made) => {
        for (const [name, { at, open }] of Object.entries(dialogs)) {
          await made.go(at);
          await open(made.page);
          const over = made.page.locator("[role=dialog], [role=menu], .diff-widget-content").first();
          await over.waitFor();
          await made.look(name);
          await made.page.keyboard.press("Escape");
          await over.waitFor({ state: "detached" });
        }
        await made.go("a session that asks about an edit");
        for (const [name, button] of Object.entries(panels)) {
          await made.page.getByRole("button", { name: button }).click();
          await made.page.getByRole("article").getByRole("textbox").first().waitFor();
          await made.look(name);
          await made.page.keyboard.press("Escape");
          await made.page.getByRole("button", { name: button }).waitFor();
        }
      });
      expect(violations).toEqual({});
    });
  });
}
