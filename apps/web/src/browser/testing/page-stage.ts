import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type axe from "axe-core";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Undefined where this machine has none. */
export const browserPath = [process.env["TANDEM_CHROMIUM"] ?? "", ...PLACES, MAC].find(
  (path) => path && existsSync(path),
);

const root = join(import.meta.dirname, "..", "..", "..", "..", "..");
const DEADLINE_MS = 60_000;

/** The server with its rehearsed agent, and a real browser before it. */
export interface PageStage extends AsyncDisposable {
  url: string;
  project: string;
  /** A link that signs in, good once. */
  link(): Promise<string>;
  /** A window of its own that is signed in. What it logs as an error, and asks of other servers, is kept. */
  open(options?: BrowserContextOptions): Promise<{ page: Page; errors: string[]; outside: string[] }>;
  /** Ends the server as a crash does, and starts another on the same state and port. */
  restart(): Promise<void>;
}

export async function setPageStage(): Promise<PageStage> {
  execFileSync(process.execPath, [join(root, "scripts", "build-page.ts")]);
  const home = await mkdtemp(join(tmpdir(), "tandem-page-"));
  const project = join(home, "project");
  await mkdir(project);
  await writeFile(join(project, "notes.md"), "# Notes\n\nOne, two, three.\n");
  let server = await startServer(home, project, 0);
  const browser: Browser = await chromium.launch({
    executablePath: browserPath ?? "",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
    ],
  });
  const { url } = server;
  const link = async (): Promise<string> => {
    const token = (await readFile(join(home, "tandem", "token"), "utf8")).trim();
    const response = await fetch(`${url}/v1/sign_in/codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    const { code } = (await response.json()) as { code: string };
    return `${url}/#code=${code}`;
  };
  return {
    url,
    project,
    link,
    async open(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 850 }, locale: "en-US", ...options });
      context.setDefaultTimeout(DEADLINE_MS);
      const page = await context.newPage();
      const errors: string[] = [];
      const outside: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(error.message));
      page.on("request", (request) => {
        if (!request.url().startsWith(`${url}/`) && !/^(data|blob):/.test(request.url())) outside.push(request.url());
      });
      await page.goto(await link());
      await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
      return { page, errors, outside };
    },
    async restart() {
      server.process.kill("SIGKILL");
      await once(server.process, "exit");
      server = await startServer(home, project, Number(new URL(url).port));
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      server.process.kill("SIGTERM");
      if (server.process.exitCode === null) await once(server.process, "exit");
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

async function startServer(
  home: string,
  project: string,
  port: number,
): Promise<{ process: ChildProcess; url: string }> {
  const args = [join(root, "apps", "cli", "src", "main.ts"), "up", "--demo", "--json", "--port", String(port)];
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      TANDEM_HOME: join(home, "tandem"),
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      TMPDIR: home,
      NO_PROXY: "127.0.0.1",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("{")) return { process: child, url: (JSON.parse(line) as { url: string }).url };
  }
  throw new Error("The server did not come up.");
}

const source = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];

/** What stands in the way of people who cannot see, point or tell colours apart; and whether the page is wider than the screen. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`,
  )) as axe.AxeResults;
  const isTooWide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`),
    ...(isTooWide ? ["wider than the screen"] : []),
  ];
}
