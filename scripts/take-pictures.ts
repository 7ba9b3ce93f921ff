// npm run pictures [-- --folder BASE] [--port N] [names…]: starts the demo on a real server and takes the screenshots of
// docs/pictures in a real browser. BASE is created, shown as the project's folder, and removed.
import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type Browser, type Page } from "playwright-core";
import { browserPath } from "../apps/web/src/browser/testing/page-stage.ts";
import { buildPage } from "./build-page.ts";
import { shots, type Shot } from "./pictures/shots.ts";
import { startShopServer, type ShopServer } from "./pictures/shop-server.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, port: { type: "string", default: "0" }, out: { type: "string" } },
});
const folder = values.out ?? join(import.meta.dirname, "..", "docs", "pictures");
const DESK = { width: 1_280, height: 820 };
const PHONE = { width: 390, height: 844 };
const QUALITY = 82;

if (browserPath === undefined) throw new Error("There is no Chromium on this machine: name one in TANDEM_CHROMIUM.");
if (values.folder !== undefined && existsSync(values.folder)) throw new Error(`${values.folder} is there already.`);
buildPage();
await mkdir(folder, { recursive: true });
await using server = await startShopServer(
  values.folder ?? mkdtempSync(join(tmpdir(), "tandem-pictures-")),
  Number(values.port),
);
await using browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"],
});
const pages = new Map<string, Page>();
for (const shot of shots(server.cast)) {
  if (positionals.length > 0 && !positionals.some((name) => shot.name.includes(name))) continue;
  await take(shot);
}

async function take({ name, path, look = "light", isPhone = false, tenant = "", act }: Shot): Promise<void> {
  const key = `${look} ${isPhone ? "phone" : "desk"} ${tenant}`;
  const page = pages.get(key) ?? (await openPage(browser, server, { look, isPhone, tenant }));
  pages.set(key, page);
  await page.goto(`${server.url}${path}`);
  await page.locator("#main h1").first().waitFor({ state: "attached" });
  await page.waitForTimeout(2_500);
  await act?.(page);
  await page.waitForTimeout(500);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  await devtools.detach();
  const bytes = Buffer.from(data, "base64");
  await writeFile(join(folder, `${name}.webp`), bytes);
  console.log(`${name}.webp ${Math.round(bytes.length / 1_000)} kB`);
}

async function openPage(
  where: Browser,
  { url, client }: ShopServer,
  { look, isPhone, tenant }: { look: "light" | "dark"; isPhone: boolean; tenant: string },
): Promise<Page> {
  const context = await where.newContext({ viewport: isPhone ? PHONE : DESK, colorScheme: look, locale: "en-GB" });
  const page = await context.newPage();
  await page.addInitScript(`localStorage.setItem("tandem.demo.tour", '{ "isOpen": false, "since": "" }')`);
  const { code } = await client.api<{ code: string }>("/v1/sign_in/codes", tenant === "" ? {} : { tenant });
  await page.goto(`${url}/#code=${code}`);
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  return page;
}
