import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession, Page } from "playwright-core";
import { z } from "zod";
import { Helper } from "../server/helper.ts";
import { quantile } from "../server/report.ts";
import { BareBrowser } from "./bare-browser.ts";

export interface Variant {
  name: string;
  /** Whether all parts are read before anything is measured, or the end of the log, as the page does by itself. */
  isWhole: boolean;
  isPhone: boolean;
  isPlain: boolean;
}

/** One run of one variant: figures by name, in milliseconds where nothing else is said. */
export type Figures = Record<string, number>;

const PER_SECOND = 200;
const SECONDS = 8;
const KEYS = "every entry is checked.";
const WHEEL_STEPS = 40;
const WHEEL_PX = 600;
/** Less than any part of the session is high on average. */
const LEAST_PART_PX = 50;
const THROTTLE = 4;
const DEADLINE_MS = 180_000;
const REST_MS = 2_000;

const place = z.object({
  url: z.string(),
  links: z.tuple([z.string(), z.string()]),
  session: z.string(),
  first: z.string(),
  events: z.number(),
  parts: z.number(),
  bytes: z.number(),
});
const streamed = z.object({ begunAt: z.number(), sent: z.number() });
const frames = z.array(z.object({ at: z.number(), mark: z.number(), distance: z.number() }));
const numbers = z.array(z.number());
const tasks = z.array(z.object({ startTime: z.number(), duration: z.number() }));

export async function measurePage(
  browser: Browser,
  variant: Variant,
  task: { folder: string; page: string; parts: number; probe: string; browserPath: string; profile?: string },
): Promise<Figures> {
  await using server = new Helper(
    "../page/page-server.ts",
    { ...task, perSecond: PER_SECOND, seconds: SECONDS },
    task.folder,
  );
  const { url, links, session, first, parts, bytes } = await server.hear(place);
  const viewport = variant.isPhone ? { width: 390, height: 844 } : { width: 1_280, height: 850 };
  const context = await browser.newContext({ viewport, locale: "en-US" });
  context.setDefaultTimeout(DEADLINE_MS);
  try {
    const page = await context.newPage();
    await page.goto(links[0]);
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await page.goto("about:blank");
    await page.addInitScript(task.probe);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Performance.enable");
    if (variant.isPhone) await devtools.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
    const load = loadavg()[0]!;
    const address = `${url}/sessions/${session}${variant.isWhole ? `?part=${first}` : ""}`;
    const opened = await open(page, address, variant, parts);
    const visits = variant.isPhone ? {} : await visit(address, { ...task, ...viewport, link: links[1] });
    const streaming = await profiled(devtools, task.profile, () => stream(page, devtools, server));
    const heapMb = await heap(devtools);
    const scrolled = await scroll(page);
    return {
      load,
      cpuLoop: cpuLoop(),
      parts,
      megabytes: bytes / 1e6,
      ...opened,
      ...visits,
      ...streaming,
      heapMb,
      ...scrolled,
    };
  } finally {
    await context.close();
  }
}

/**
 * Time to the first rows in a browser without tools: on the first visit, with the scripts of the page cached but not
 * compiled, and on a later visit. A page with one line of text is the lower bound.
 */
async function visit(
  address: string,
  tab: {
    folder: string;
    probe: string;
    browserPath: string;
    width: number;
    height: number;
    /** A sign-in link. */
    link: string;
  },
): Promise<Figures> {
  const { origin } = new URL(address);
  await using browser = await BareBrowser.start(tab.browserPath, { ...tab, script: tab.probe });
  // A browser that has just begun has much to do; and it prepares the scripts of a page for the next time when all is quiet.
  const visitLater = async (where: string, what = "probe.firstRows"): Promise<number> => {
    await sleep(REST_MS);
    return browser.visit(where, what);
  };
  await visitLater(tab.link, "document.querySelector('h1')?.textContent === 'Sessions' ? probe.painted() : undefined");
  const lineOfText = await visitLater(`${origin}/v1/tenant`, "probe.firstWords");
  const firstRows = await visitLater(address);
  for (let times = 0; times < 2; times += 1) await visitLater(address);
  return { lineOfText, firstRows, firstRowsAgain: await visitLater(address) };
}

/** Opens the session, and waits until nothing happens any more. */
async function open(page: Page, address: string, { isWhole }: Variant, parts: number): Promise<Figures> {
  await page.goto(address);
  const firstRows = z.number().parse(await page.evaluate("probe.firstRows"));
  const linkedPart = isWhole ? z.number().parse(await page.evaluate("probe.linkedPart")) : 0;
  if (isWhole) await page.evaluate(`probe.allRead(${parts * LEAST_PART_PX})`);
  const ready = z.number().parse(await page.evaluate("probe.painted()"));
  await page.waitForTimeout(1_500);
  const long = tasks.parse(await page.evaluate("probe.tasks"));
  const ends = long.map(({ startTime, duration }) => startTime + duration);
  return {
    firstRowsWithTools: firstRows,
    ...(isWhole && { linkedPart, allRead: ready }),
    interactive: Math.max(isWhole ? ready : firstRows, ...ends),
    longestTaskAtLoad: Math.max(0, ...long.map(({ duration }) => duration)),
  };
}

async function stream(page: Page, devtools: CDPSession, server: Helper): Promise<Figures> {
  const latest = page.getByRole("button", { name: "Latest" });
  if (await latest.isVisible()) await latest.click();
  await page.evaluate("probe.atEnd()");
  const box = page.getByRole("textbox", { name: "Message" });
  await box.click();
  await page.waitForTimeout(500);
  await page.evaluate("probe.tasks.length = 0; probe.keys.length = 0; globalThis.watching = probe.watch()");
  const before = await shares(devtools);
  const done = server.hear(streamed);
  // An earlier error explains more.
  done.catch(() => undefined);
  server.tell("go");
  await page.evaluate("probe.streaming()");
  const pause = (SECONDS * 1_000 - 1_500) / KEYS.length;
  for (const key of KEYS) {
    await page.keyboard.press(key === " " ? "Space" : key);
    await sleep(pause);
  }
  const { begunAt, sent } = await done;
  const after = await shares(devtools);
  await page.evaluate("watching.end()");
  const seen = frames.parse(await page.evaluate("watching.frames"));
  const long = tasks.parse(await page.evaluate("probe.tasks"));
  const slowKeys = numbers.parse(await page.evaluate("probe.keys"));
  // Keys that the browser does not report took less than 16 ms.
  const keys = [...slowKeys, ...Array.from({ length: Math.max(0, KEYS.length - slowKeys.length) }, () => 16)];
  const during = seen.filter(({ mark, at }) => mark >= 0 && at <= begunAt + SECONDS * 1_000);
  const gaps = during.slice(1).map(({ at }, index) => at - during[index]!.at);
  const lags = lagsOf(seen, begunAt, sent);
  const took = after.at - before.at;
  return {
    fps: (during.length - 1) / ((during.at(-1)!.at - during[0]!.at) / 1_000),
    frameGapP95: quantile(gaps, 0.95),
    longTasks: long.length,
    longestTask: Math.max(0, ...long.map(({ duration }) => duration)),
    deltaToFrameP50: quantile(lags, 0.5),
    deltaToFrameP95: quantile(lags, 0.95),
    keyP95: quantile(keys, 0.95),
    scriptShare: (100 * (after.script - before.script)) / took,
    layoutShare: (100 * (after.layout - before.layout)) / took,
    farthestFromEnd: Math.max(...during.map(({ distance }) => distance)),
    elements: z.number().parse(await page.evaluate("probe.elements()")),
  };
}

/** Where the time of streaming goes, as a file for a browser's own tools. */
async function profiled<T>(devtools: CDPSession, path: string | undefined, work: () => Promise<T>): Promise<T> {
  if (path === undefined) return work();
  await devtools.send("Profiler.enable");
  await devtools.send("Profiler.start");
  const outcome = await work();
  const { profile } = await devtools.send("Profiler.stop");
  await writeFile(path, JSON.stringify(profile));
  return outcome;
}

/** From the moment at which a delta was due to the end of the first frame that shows it. */
function lagsOf(seen: z.infer<typeof frames>, begunAt: number, sent: number): number[] {
  const lags: number[] = [];
  for (const { at, mark } of seen) {
    for (let number = lags.length; number <= mark && number < sent; number += 1) {
      lags.push(at - (begunAt + (number * 1_000) / PER_SECOND));
    }
  }
  return lags;
}

async function scroll(page: Page): Promise<Figures> {
  const box = (await page.locator("[role=log]").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate("globalThis.scrolling = probe.watch()");
  let blank = 0;
  for (let step = 0; step < WHEEL_STEPS; step += 1) {
    await page.mouse.wheel(0, -WHEEL_PX);
    blank += z.number().parse(await page.evaluate("probe.painted().then(() => probe.blanks())"));
  }
  await page.evaluate("scrolling.end()");
  const seen = frames.parse(await page.evaluate("scrolling.frames"));
  const gaps = seen.slice(1).map(({ at }, index) => at - seen[index]!.at);
  const jump = z.number().parse(await page.evaluate("probe.jump()"));
  return { scrollGapP95: quantile(gaps, 0.95), blankProbes: blank, jump };
}

async function heap(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  return (await metrics(devtools))["JSHeapUsedSize"]! / 1e6;
}

async function shares(devtools: CDPSession): Promise<{ script: number; layout: number; at: number }> {
  const all = await metrics(devtools);
  return {
    script: all["ScriptDuration"]!,
    layout: all["LayoutDuration"]! + all["RecalcStyleDuration"]!,
    at: all["Timestamp"]!,
  };
}

async function metrics(devtools: CDPSession): Promise<Record<string, number>> {
  const { metrics: all } = await devtools.send("Performance.getMetrics");
  return Object.fromEntries(all.map(({ name, value }) => [name, value]));
}

/** The same work in every run, in milliseconds: how much of the machine was there for it. */
function cpuLoop(): number {
  const begun = performance.now();
  let sum = 0;
  for (let index = 0; index < 50_000_000; index += 1) sum = (sum + index * 7) % 1_000_003;
  return sum < 0 ? 0 : performance.now() - begun;
}
