import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { SETTINGS_PAGES } from "../../../settings/settings-pages.ts";
import { accessibilityViolations, overflow } from "../accessibility-violations.ts";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;
const NOTHING = /^(Page|Session) not found$/;
/** Pages to check: their path, and a text that shows that they have loaded. */
let places: Record<string, [path: string, ready: string | RegExp]>;

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
  const proposal = (await stage.api<{ data: { id: string; title: string }[] }>("/v1/proposals?limit=10")).data.find(
    ({ title }) => title === "Ingest of docs",
  );
  const job = (await stage.api<{ data: { id: string; kind: string }[] }>("/v1/jobs?limit=5")).data.find(
    ({ kind }) => kind === "scan",
  );
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
    "what waits": ["/inbox", /Allow once|Approve plan|Which colours/],
    "what was decided": ["/inbox?view=decided", "echo first-run"],
    "what is known": ["/context", "Needs a decision"],
    "what was searched": ["/context?q=refund", "Refunds"],
    "nothing found": ["/context?q=zzzzzz", "No results"],
    wiki: ["/context/wiki", "Active customer"],
    "a page": ["/context/wiki/refunds", /refunds\.md/],
    tables: ["/context/tables", "addresses"],
    "a table": ["/context/tables/shop/main.orders", "handled_by"],
    "a join graph": ["/context/graph/shop/main.orders", /7 tables/],
    "all tables as a graph": ["/context/graph", /10 tables/],
    metrics: ["/context/metrics", "Late orders"],
    "a metric": ["/context/metrics/shop/order_value", "revenue / orders"],
    "a broken metric": ["/context/metrics/shop/late_orders", "This metric cannot be used"],
    "a query of metrics": ["/context/metrics/query?metrics=revenue,orders&by=time.month", /^\d+ rows in/],
    "a query as a table": ["/context/metrics/query?metrics=revenue&by=customer.country&view=table", /^\d+ rows in/],
    "a query with filters": [
      `/context/metrics/query?metrics=orders&where=${encodeURIComponent('[{"field":"order.status","op":"in","values":["open"]},{"field":"time","last":{"count":3,"unit":"month"}}]')}`,
      "Choose values",
    ],
    "a refused query": ["/context/metrics/query?metrics=customers&by=order.status", /^Refused/],
    SQL: ["/context/sql", "History"],
    "a new source": ["/context/sources/new", "Save is available after a successful test."],
    proposals: ["/context/proposals", "Ingest of docs"],
    "a proposal": [`/context/proposals/${proposal!.id}`, "Who is an active customer?"],
    memory: ["/context/memory", "Remember this"],
    jobs: ["/context/jobs", /ingest/i],
    "a job": [`/context/jobs/${job!.id}`, /tables/i],
    sources: ["/context/sources", "Databases"],
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
    open: async (page) => (await page.keyboard.press("x"), page.keyboard.press("x")),
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

/** Panels of an approval card. */
const panels: Record<string, string> = {
  "denied with words": "Deny …",
  "always, by a rule": "Always allow",
  "with another input": "Edit …",
};

const PHONE = { width: 390, height: 844 };
/** The theme of the n-th page. The colours are the same everywhere, so each theme on half of the pages finds most faults. */
type Theme = (n: number) => "light" | "dark";
interface Screen {
  options: BrowserContextOptions;
  theme: Theme;
}
const screens: Record<string, Screen> = {
  "a desk and a narrow window": { options: {}, theme: (n) => (n % 2 === 0 ? "light" : "dark") },
  // Repeat every page and dialog.
  ...(inject("soak") && {
    "the other themes": { options: {}, theme: (n) => (n % 2 === 0 ? "dark" : "light") },
    "a phone": { options: { viewport: PHONE, hasTouch: true, isMobile: true }, theme: () => "dark" },
  }),
};

/** Walks through pages in a window of its own, and collects all violations instead of stopping at the first. */
class Walk {
  readonly page: Page;
  readonly #theme: Theme;
  readonly #found: Record<string, string[]> = {};
  #looked = 0;

  constructor(page: Page, theme: Theme) {
    this.page = page;
    this.#theme = theme;
  }

  async look(name: string): Promise<void> {
    const { page } = this;
    const size = page.viewportSize()!;
    const colorScheme = this.#theme(this.#looked++);
    await page.emulateMedia({ colorScheme });
    const here = await accessibilityViolations(page);
    await page.setViewportSize(PHONE);
    here.push(...(await overflow(page)).map((violation) => `in a narrow window, ${violation}`));
    await page.setViewportSize(size);
    if (here.length > 0) this.#found[`${name}, ${colorScheme}`] = here;
  }

  async go(name: string): Promise<void> {
    const { page } = this;
    const [path, ready] = places[name]!;
    // Navigate like a link, through an empty page. A full page load per path takes ten times as long.
    const nothing = page.getByText(NOTHING);
    await page.evaluate(`history.pushState(null, "", "/nowhere/at-all")`);
    await nothing.waitFor();
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
    if (ready !== NOTHING) await nothing.waitFor({ state: "detached" });
    await page.locator("#main h1:visible").first().waitFor();
    await page.locator("#main").getByText(ready).filter({ visible: true }).first().waitFor();
  }

  async visit(name: string): Promise<void> {
    const isThere = await this.go(name).then(
      () => true,
      () => false,
    );
    if (isThere) await this.look(name);
    else this.#found[name] = [`It does not say ${places[name]![1]}.`];
  }

  /** What was found, and errors of the page. Browsers log 4xx responses as errors; the page shows them itself. */
  get violations(): Record<string, string[]> {
    const isOurs = (text: string): boolean => !/status of 40[014]|ERR_FAILED|dynamically imported/.test(text);
    const errors = stage.pageErrors().filter(isOurs);
    return { ...this.#found, ...(errors.length > 0 && { errors }) };
  }
}

const isOf = (...paths: RegExp[]): string[] =>
  Object.keys(places).filter((name) => paths.some((path) => path.test(places[name]![0])));

/** See `context-pages.extended.test.ts`. Several tests, because one would take longer than a test may. */
export function testAccessibility(shared: () => PageStage): void {
  beforeAll(async () => {
    stage = shared();
    await createSessions();
  });
  afterAll(() => stage.reset());

  describe.each(Object.entries(screens))("accessible and fitting the screen: %s", (_, { options, theme }) => {
    const walk = async (steps: (walk: Walk) => Promise<void>): Promise<Record<string, string[]>> => {
      // Without transitions, colours are final at once.
      const made = new Walk(await stage.openOwn({ reducedMotion: "reduce", ...options }), theme);
      await steps(made);
      await made.page.context().close();
      return made.violations;
    };

    test("sessions, the inbox and pages that do not exist", async () => {
      const violations = await walk(async (made) => {
        for (const name of isOf(/^\/($|\?|sessions|compare|inbox|nowhere)/)) await made.visit(name);
        // Simulates a missing chunk, as after a server upgrade.
        await made.page.route("**/assets/inbox-page*", (route) => route.abort());
        await made.page.goto(`${stage.url}/inbox`);
        await made.page.getByText("The page has been updated").waitFor();
        await made.look("a page that broke");
      });
      expect(violations).toEqual({});
    });

    test("the context", async () => {
      const violations = await walk(async (made) => {
        for (const name of isOf(/^\/context/)) await made.visit(name);
      });
      expect(violations).toEqual({});
    });

    test("settings, and signing in", async () => {
      const violations = await walk(async (made) => {
        for (const name of isOf(/^\/settings/)) await made.visit(name);
        await made.page.evaluate("localStorage.clear(); indexedDB.deleteDatabase('tandem')");
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
