// npm run clip: plays the demo's tour in a real browser and records docs/demo.webp, 20 seconds. Needs Chromium and img2webp.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { browserPath } from "../apps/web/src/browser/testing/page-stage.ts";
import { buildPage } from "./build-page.ts";
import { startShopServer } from "./pictures/shop-server.ts";

const OUTPUT = join(import.meta.dirname, "..", "docs", "demo.webp");
const SIZE = { width: 1_024, height: 640 };
const MAX_KB = 500;
const QUALITY = "62";

if (browserPath === undefined) throw new Error("There is no Chromium on this machine: name one in TANDEM_CHROMIUM.");
buildPage();
const folder = mkdtempSync(join(tmpdir(), "tandem-clip-"));
const frames: { file: string; ms: number }[] = [];
await using server = await startShopServer(join(folder, "home"), 0);
await using browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"],
});
const context = await browser.newContext({ viewport: SIZE, colorScheme: "light", locale: "en-GB" });
const page = await context.newPage();
const { code } = await server.client.api<{ code: string }>("/v1/sign_in/codes", {});
await page.goto(`${server.url}/#code=${code}`);

await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
await page.getByText("Free shipping from 60 €").first().waitFor();
await frame("Your agents, side by side. Three need you.", 2_600);
await page.goto(`${server.url}/sessions/${server.cast.shipping}`);
await page
  .getByRole("button", { name: /^Allow once/ })
  .first()
  .waitFor();
await frame("An edit waits for your approval.", 3_000);
await page
  .getByRole("button", { name: /^Allow once/ })
  .first()
  .click();
await page.getByText("Orders of 60 €").first().waitFor();
await frame("Approved: exactly that edit runs.", 2_600);
await untilIdle(server.cast.shipping);
await page.goto(`${server.url}/sessions/${server.cast.shipping}?view=changes`);
await page.getByText("FREE_FROM_CENTS").first().waitFor();
await frame("Read the diff, turn by turn.", 3_000);
await page
  .getByRole("button", { name: /^Rewind/ })
  .first()
  .click();
await page.getByRole("dialog").waitFor();
await page.getByRole("dialog").getByText("FREE_FROM_CENTS").first().waitFor();
await frame("Rewind: see first what it changes.", 3_000);
await page
  .getByRole("dialog")
  .getByRole("button", { name: /^Rewind/ })
  .last()
  .click();
await page.getByRole("dialog").waitFor({ state: "detached" });
await frame("Undone. And the rewind can be undone too.", 2_600);
await page.goto(`${server.url}/context/search?q=active%20customer`);
await page.getByText("Active customer").first().waitFor();
await frame("Agents search reviewed knowledge with sources.", 3_200);

const inputs = frames.flatMap(({ file, ms }) => ["-d", String(ms), "-lossy", "-q", QUALITY, "-m", "6", file]);
execFileSync("img2webp", ["-loop", "0", ...inputs, "-o", OUTPUT]);
rmSync(folder, { recursive: true, force: true });
const kilobytes = statSync(OUTPUT).size / 1_000;
console.log(`docs/demo.webp ${Math.round(kilobytes)} kB`);
if (kilobytes > MAX_KB) throw new Error(`The clip has more than ${MAX_KB} kB: lower the quality or the size.`);

/** Takes a picture with a caption below. */
async function frame(caption: string, ms: number): Promise<void> {
  await page.waitForTimeout(1_200);
  await showCaption(page, caption);
  const file = join(folder, `${frames.length}.png`);
  await page.screenshot({ path: file });
  frames.push({ file, ms });
}

/** A session cannot be rewound during a turn. */
async function untilIdle(session: string): Promise<void> {
  for (;;) {
    const { status } = await server.client.api<{ status: string }>(`/v1/sessions/${session}`);
    if (status === "idle") return;
    await page.waitForTimeout(500);
  }
}

/** Adds the caption through the DOM: the page's policy forbids other styles. */
async function showCaption(on: Page, caption: string): Promise<void> {
  await on.locator("body").evaluate((body, words) => {
    const bar = body.ownerDocument.querySelector("#clip-caption") ?? body.ownerDocument.createElement("div");
    bar.id = "clip-caption";
    bar.textContent = words;
    bar.style.cssText =
      "position:fixed;inset:auto 0 0;z-index:9999;padding:14px 24px;background:#1f2430;color:#fff;font:600 20px system-ui;text-align:center";
    body.append(bar);
  }, caption);
}
