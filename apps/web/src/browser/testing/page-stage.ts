import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import type { TestContext } from "vitest";
import { startHoldingProxy } from "./holding-proxy.ts";

/** Runs in the browser and logs CSP violations as errors, which the tests read. */
const TELL_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) =>
  console.error("Against the policy: " + event.violatedDirective + " " + event.blockedURI));`;

// The shell has no window system and takes less time of the processor.
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Undefined if this machine has no Chromium. */
export const browserPath = [process.env["TANDEM_CHROMIUM"] ?? "", ...PLACES, MAC].find(
  (path) => path && existsSync(path),
);

const root = join(import.meta.dirname, "..", "..", "..", "..", "..");
/** `npm test` builds the package once and tests that: it starts in half the time, and it is what users run. */
const TANDEM = process.env["TANDEM_TEST_COMMAND"] ?? join(root, "apps", "cli", "bin", "tandem.mjs");
const AGENT = fileURLToPath(import.meta.resolve("./scripted-agent.ts"));
/** Limit for one element to appear. It is long because a busy machine is slow, not broken. */
const DEADLINE_MS = 180_000;
/** Of the scene "Count the words": the rest comes when the gate `words` is open. */
const HELD_WORD = "word20";
/** Limit for describing a page after a failed test. */
const SNAPSHOT_MS = 5_000;
/** Runs in the browser. Leaves for an empty page; false if the page has to be loaded again. */
const LEAVE = `(() => {
  const isClean = localStorage.length === 0 && !document.querySelector("[role=dialog], [role=menu], [role=listbox]");
  localStorage.clear();
  sessionStorage.clear();
  if (isClean) history.pushState(null, "", "/nowhere/at-all");
  return isClean;
})()`;
const VIEWPORT = { width: 1280, height: 850 };
const FLAGS = `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
  --disable-crash-reporter`.split(/\s+/);

/** A server with a scripted agent, and a real browser. Tests share it; each suite calls `reset` between its tests. */
export interface PageStage extends AsyncDisposable {
  url: string;
  /** The folder in which sessions work. */
  project: string;
  /** A single-use sign-in link. */
  link(): Promise<string>;
  /** Opens a path in the shared, signed-in window, like a link. A new window takes Chromium many times as long. */
  open(path?: string): Promise<Page>;
  /** Opens a signed-in window with its own storage and cache, optionally at another address of the same server. */
  openOwn(options?: BrowserContextOptions & { url?: string }): Promise<Page>;
  /** Opens a window that is not signed in. */
  openSignedOut(): Promise<Page>;
  /** Errors logged by windows and their requests to other servers, since the last call. */
  pageErrors(): string[];
  /** Calls the API with the operator's token. */
  api<T>(path: string, body?: unknown, method?: string): Promise<T>;
  /** Starts a session with a message and a permission mode. Returns its id. */
  start(words: string, mode?: string): Promise<string>;
  /** Sends a message to a session. */
  send(session: string, words: string): Promise<void>;
  /** Opens a gate that the scripted agent or its answer waits for. */
  release(gate: string): Promise<void>;
  /** Kills the server like a crash. */
  kill(): Promise<void>;
  /** Restarts the server with the same state and port. */
  restart(): Promise<void>;
  /** Closes all windows but the shared one and clears that. Between tests that share a session. Prints the pages of a failed test. */
  closeWindows(test?: TestContext): Promise<void>;
  /** Closes the windows, archives all sessions and restores the project's files. */
  reset(test?: TestContext): Promise<void>;
}

async function printPages(browser: Browser): Promise<void> {
  for (const page of browser.contexts().flatMap((room) => room.pages())) {
    const shown = await page
      .locator("body")
      .ariaSnapshot({ timeout: SNAPSHOT_MS })
      .catch((error: unknown) => String(error));
    console.error(`${page.url()}\n${shown}`);
  }
}

const sessionList = (page: Page) => page.getByRole("heading", { name: "Sessions", level: 1 });

/**
 * With `context`, the project is the demo shop with a catalogue, a wiki and open proposals. `settings` is appended to
 * tandem.yaml. With `demo`, the model is the demo's instead of `scripted-agent.ts`.
 */
export async function startPageStage({ context = false, settings: own = "", demo = false } = {}): Promise<PageStage> {
  // The built package contains the page.
  if (process.env["TANDEM_TEST_COMMAND"] === undefined) {
    execFileSync(process.execPath, [join(root, "scripts", "build-page.ts")]);
  }
  const home = await realpath(await mkdtemp(join(tmpdir(), "tandem-page-")));
  const project = join(home, "project");
  const state = join(home, "tandem");
  const gates = join(home, "gates");
  await mkdir(gates);
  const variables = {
    PATH: process.env["PATH"],
    HOME: home,
    TMPDIR: home,
    NO_PROXY: "127.0.0.1",
    LANG: "C.UTF-8",
    TANDEM_HOME: state,
    // Share the compile cache between tests.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    TANDEM_TEST_PROJECT: project,
    TANDEM_TEST_GATES: gates,
    TANDEM_TEST_KEY: "sk-ant-made-up",
  };
  const tandem = (args: readonly string[], cwd = project): ChildProcess =>
    spawn(process.execPath, [TANDEM, ...args], { cwd, env: variables, stdio: ["ignore", "pipe", "ignore"] });
  const finish = async (args: readonly string[], cwd?: string): Promise<void> => {
    const child = tandem(args, cwd);
    child.stdout!.resume();
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`tandem ${args.join(" ")} ended with ${code}.`);
  };

  if (context) {
    await finish(["demo", "context", project, "--json"], home);
    // The server refuses sessions whose folder contains its own state. The command has left its compile cache there.
    await rm(state, { recursive: true, force: true });
    await rename(`${project}.tandem`, state);
  } else await mkdir(project);
  const restoreFiles = async (): Promise<void> => {
    await writeFile(join(project, "notes.md"), "# Notes\n\nOne, two, three.\n");
    for (const name of ["more.md", "planned.md", "here.md"]) await rm(join(project, name), { force: true });
  };
  await restoreFiles();
  const agent = tandem(["rehearse", "serve", AGENT, "--json"]);
  const { url: rehearsal } = await firstLine(agent);
  const model = await startHoldingProxy(rehearsal, {
    word: HELD_WORD,
    async opened() {
      while (!existsSync(join(gates, "words")) && agent.exitCode === null) await pause(20);
    },
  });
  const settings = join(project, "tandem.yaml");
  const before = existsSync(settings) ? await readFile(settings, "utf8") : "";
  // Commands of the scripted agent wait for files there.
  const mounts = `sandbox: { mounts: [{ path: "${gates}" }] }\n`;
  await writeFile(
    settings,
    `${before}${own}${mounts}llm:\n  claudeCode: { auth: api_key, apiKey: "env:TANDEM_TEST_KEY", baseUrl: "${model.url}" }\n`,
  );
  await finish(["trust"]);
  const up = (port: number): ChildProcess =>
    tandem(["up", "--json", "--port", String(port), ...(demo ? ["--demo"] : [])]);
  let server = up(0);
  const { url } = await firstLine(server);
  const browser = await chromium.launch({
    executablePath: browserPath ?? "",
    args: FLAGS,
    env: variables,
    timeout: DEADLINE_MS,
  });

  const token = (await readFile(join(state, "token"), "utf8")).trim();
  const api = async <T>(path: string, body?: unknown, method = body === undefined ? "GET" : "POST"): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const toolset = { tools: [{ type: "agent_toolset_20260401" }], model: "sonnet" };
  const scout = await api<{ id: string }>("/v1/agents", { ...toolset, name: "scout", system: "You are a scout." });
  const multiagent = { type: "coordinator", agents: [scout.id] };
  const tester = await api<{ id: string }>("/v1/agents", { ...toolset, name: "Tester", multiagent });

  const link = async (at = url): Promise<string> => {
    const { code } = await api<{ code: string }>("/v1/sign_in/codes", {});
    return `${at}/#code=${code}`;
  };
  let pageErrors: string[] = [];
  const openWindow = async (options: BrowserContextOptions = {}, own = url): Promise<Page> => {
    const room = await browser.newContext({
      viewport: VIEWPORT,
      locale: "en-US",
      // Animations take a quarter of a core for as long as an agent works.
      reducedMotion: "reduce",
      ...options,
    });
    room.setDefaultTimeout(DEADLINE_MS);
    await room.addInitScript({ content: TELL_VIOLATIONS });
    room.on("console", (message) => {
      // The page reports a missing sign-in itself, and signs a request again that the browser has sent twice (409).
      if (message.type() !== "error" || /status of (401|409)/.test(message.text())) return;
      pageErrors.push(`${message.text()} (${message.location().url})`);
    });
    room.on("weberror", (error) => pageErrors.push(error.error().message));
    room.on("request", (request) => {
      const isOwn = request.url().startsWith(`${own}/`) || /^(data|blob):/.test(request.url());
      if (!isOwn) pageErrors.push(`Asked ${request.url()}`);
    });
    return room.newPage();
  };
  const openOwn = async ({
    url: at = url,
    ...options
  }: BrowserContextOptions & { url?: string } = {}): Promise<Page> => {
    const page = await openWindow(options, at);
    await page.goto(await link(at));
    await sessionList(page).waitFor();
    return page;
  };
  let shared: Page | undefined;
  const closeWindows = async (test?: TestContext): Promise<void> => {
    if (test?.task.result?.state === "fail") await printPages(browser);
    for (const room of browser.contexts()) if (room !== shared?.context()) await room.close();
    if (shared) {
      for (const tab of shared.context().pages()) if (tab !== shared) await tab.close();
      await shared.unrouteAll({ behavior: "ignoreErrors" });
      // A full page load takes many times as long as a navigation, but only that clears the page's own state.
      if (!(shared.url().startsWith(url) && (await shared.evaluate(LEAVE)))) await shared.goto("about:blank");
      await shared.setViewportSize(VIEWPORT);
    }
    pageErrors = [];
  };
  return {
    url,
    project,
    link: () => link(),
    api,
    openSignedOut: () => openWindow(),
    openOwn,
    async open(path = "/") {
      const isNew = shared === undefined;
      shared ??= await openOwn();
      if (isNew && path === "/") return shared;
      if (shared.url().startsWith(url)) await shared.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
      else await shared.goto(`${url}${path}`);
      if (path === "/") await sessionList(shared).waitFor();
      return shared;
    },
    closeWindows,
    async reset(test) {
      await closeWindows(test);
      // An idle session would keep its process, and that takes time of the processor.
      const { data } = await api<{ data: { id: string }[] }>("/v1/sessions?limit=100");
      for (const { id } of data) await api(`/v1/sessions/${id}/archive`, {});
      await restoreFiles();
      await rm(gates, { recursive: true });
      await mkdir(gates);
    },
    pageErrors() {
      const before = pageErrors;
      pageErrors = [];
      return before;
    },
    async start(words, mode) {
      const { id } = await api<{ id: string }>("/v1/sessions", {
        agent: tester.id,
        environment_id: "env_local",
        title: words,
        initial_events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
        metadata: mode === undefined ? {} : { "tandem.permission_mode": mode },
      });
      return id;
    },
    async send(session, words) {
      const events = [{ type: "user.message", content: [{ type: "text", text: words }] }];
      await api(`/v1/sessions/${session}/events`, { events });
    },
    release: (gate) => writeFile(join(gates, gate), ""),
    async kill() {
      server.kill("SIGKILL");
      await once(server, "exit");
    },
    async restart() {
      server = up(Number(new URL(url).port));
      await firstLine(server);
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      for (const child of [server, agent]) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      await model[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** The first line that a command with `--json` prints when it is ready. */
async function firstLine(child: ChildProcess): Promise<{ url: string }> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith("{")) {
      child.stdout!.resume();
      return JSON.parse(line) as { url: string };
    }
  }
  throw new Error("It did not come up.");
}
