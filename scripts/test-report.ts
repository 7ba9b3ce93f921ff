import { z } from "zod";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      startTime: z.number(),
      endTime: z.number(),
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

export type Outcome = keyof Counts;

/** Outcome of each test by its file and full name, from vitest's JSON report. A file that broke counts as one test. */
export function testOutcomes(json: string | undefined): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  if (json === undefined) return outcomes;
  for (const file of report.parse(JSON.parse(json)).testResults) {
    const name = shortName(file.name);
    for (const { fullName, status } of file.assertionResults) {
      // Tests of a table may share a name.
      let test = `${name}: ${fullName}`;
      while (outcomes.has(test)) test += " (again)";
      outcomes.set(test, status === "passed" || status === "failed" ? status : "skipped");
    }
    if (file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed")) {
      outcomes.set(`${name}: (the file itself)`, "failed");
    }
  }
  return outcomes;
}

export function countOutcomes(outcomes: ReadonlyMap<string, Outcome>): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const outcome of outcomes.values()) counts[outcome] += 1;
  return counts;
}

/** The files whose tests took longest, slowest first. */
export function slowestFiles(json: string | undefined, count: number): { name: string; seconds: number }[] {
  if (json === undefined) return [];
  return report
    .parse(JSON.parse(json))
    .testResults.map(({ name, startTime, endTime }) => ({
      name: shortName(name),
      seconds: (endTime - startTime) / 1_000,
    }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count);
}

/** How long each part took: the checks with the build, then the tests by the ending of their files' names. */
export function durations(json: string | undefined, begunAt: number): { part: string; ms: number }[] {
  if (json === undefined) return [];
  const files = report.parse(JSON.parse(json)).testResults;
  const partOf = (name: string): string => /\.(binary|extended)\.test\.ts$/.exec(name)?.[1] ?? "unit";
  let from = begunAt;
  return ["unit", "binary", "extended"].flatMap((part) => {
    const own = files.filter(({ name }) => partOf(name) === part);
    if (own.length === 0) return [];
    const [start, end] = [Math.min(...own.map((file) => file.startTime)), Math.max(...own.map((file) => file.endTime))];
    const before = from === begunAt ? [{ part: "checks and build", ms: start - from }] : [];
    const ms = end - Math.max(start, from);
    from = end;
    return [...before, { part, ms }];
  });
}

/** The files whose tests ran at this time. */
export function filesAt(json: string | undefined, time: number): string[] {
  if (json === undefined) return [];
  return report
    .parse(JSON.parse(json))
    .testResults.filter(({ startTime, endTime }) => startTime <= time && time <= endTime)
    .map(({ name }) => shortName(name));
}

const shortName = (path: string): string => path.replace(/^.*?\/(packages|apps|scripts)\//, "$1/");
