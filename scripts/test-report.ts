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
      message: z.string().optional(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** Outcome of each test by its file and full name, from vitest's JSON report. A file that broke counts as one test. */
export function testOutcomes(json: string | undefined): Map<string, "passed" | "failed" | "skipped"> {
  const outcomes = new Map<string, "passed" | "failed" | "skipped">();
  if (json === undefined) return outcomes;
  for (const file of report.parse(JSON.parse(json)).testResults) {
    const name = file.name.replace(/^.*?\/(packages|apps|scripts)\//, "$1/");
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

export function countTests(json: string | undefined): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const outcome of testOutcomes(json).values()) counts[outcome] += 1;
  return counts;
}
