import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { browserPath } from "../../apps/web/src/browser/testing/page-stage.ts";
import { buildPage } from "../../scripts/build-page.ts";
import { quantile } from "../server/report.ts";
import { measurePage, type Figures, type Variant } from "./measure-page.ts";
import { buildPlainPage } from "./plain-page.ts";

const PARTS = 10_000;
const ROUNDS = 3;

const VARIANTS: readonly Variant[] = [
  { name: "whole", isWhole: true, isPhone: false, isPlain: false },
  { name: "tail", isWhole: false, isPhone: false, isPlain: false },
  { name: "phone", isWhole: false, isPhone: true, isPlain: false },
  { name: "plain", isWhole: true, isPhone: false, isPlain: true },
];

/** Upper limit of each figure; lower limit of frames. Figures without a limit are only shown. */
const ANCHORS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  whole: { firstRows: 1_100, linkedPart: 800, fps: 55, longestTask: 50, deltaToFrameP95: 80, keyP95: 40, ...sizes() },
  tail: { firstRows: 500, fps: 55, longestTask: 50, deltaToFrameP95: 80, keyP95: 40, ...sizes() },
  phone: { farthestFromEnd: 48, blankProbes: 0, elements: 2_000, heapMb: 20 },
};

function sizes() {
  return { elements: 2_000, heapMb: 20, jump: 100, blankProbes: 0, farthestFromEnd: 48 };
}

/**
 * `--rounds N`, `--parts N`, `--profile FOLDER` (for where the time goes), and names of variants; one line of JSON for each
 * run, and a table at the end.
 */
export async function run(args: string[]): Promise<void> {
  if (browserPath === undefined) {
    console.error("There is no Chromium on this machine. Install one, or name it in TANDEM_CHROMIUM.");
    process.exitCode = 2;
    return;
  }
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: String(ROUNDS) },
      parts: { type: "string", default: String(PARTS) },
      profile: { type: "string" },
    },
  });
  const rounds = Number(values.rounds);
  const parts = Number(values.parts);
  const named = VARIANTS.filter(({ name }) => positionals.includes(name));
  const variants = named.length > 0 ? named : VARIANTS;

  const folder = mkdtempSync(join(tmpdir(), "tandem-bench-page-"));
  const runs = new Map<string, Figures[]>(variants.map(({ name }) => [name, []]));
  const probe = readFileSync(join(import.meta.dirname, "probe.js"), "utf8");
  const pages = { real: join(import.meta.dirname, "..", "..", "apps", "web", "dist"), plain: join(folder, "plain") };
  buildPage();
  if (variants.some(({ isPlain }) => isPlain)) await buildPlainPage(pages.plain);
  await using browser = await chromium.launch({
    executablePath: browserPath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
    ],
  });
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const variant of variants) {
        const own = join(folder, `${variant.name}-${round}`);
        await mkdir(own);
        const page = variant.isPlain ? pages.plain : pages.real;
        const figures = await measurePage(browser, variant, {
          folder: own,
          page,
          parts,
          probe,
          browserPath,
          ...(values.profile && { profile: join(values.profile, `${variant.name}-${round}.cpuprofile`) }),
        });
        console.error(JSON.stringify({ variant: variant.name, round, ...rounded(figures) }));
        runs.get(variant.name)!.push(figures);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  report(runs);
}

const rounded = (figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 10) / 10]));

/** Of each figure the median; beside it whether it is within its anchor. */
function report(runs: ReadonlyMap<string, readonly Figures[]>): void {
  const day = new Date().toISOString().slice(0, 10);
  console.log(
    `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${day}.\n`,
  );
  const names = [...new Set([...runs.values()].flatMap((own) => own.flatMap((figures) => Object.keys(figures))))];
  console.log(`| median of ${[...runs.values()][0]?.length ?? 0} | ${[...runs.keys()].join(" | ")} |`);
  console.log(`|---|${[...runs.keys()].map(() => "---|").join("")}`);
  for (const name of names) {
    const cells = [...runs].map(([variant, own]) => cell(variant, name, own));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

function cell(variant: string, name: string, own: readonly Figures[]): string {
  const values = own.flatMap((figures) => figures[name] ?? []);
  if (values.length === 0) return "";
  const value = quantile(values, 0.5);
  const shown = value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
  const anchor = ANCHORS[variant]?.[name];
  if (anchor === undefined) return shown;
  const isWithin = name === "fps" ? value >= anchor : value <= anchor;
  return `${shown} (${isWithin ? "within" : "**misses**"} ${anchor.toLocaleString("en")})`;
}
