import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { measureSlowness } from "./scripts/machine-slowness.ts";

// Pure tests take seconds. Tests named *.binary.test.ts start the real Claude Code, other programs or servers. Tests named
// *.extended.test.ts do so too and run in `npm test -- --all`: fleets, Postgres and other databases, killed processes, clients
// of other projects, the accessibility of every page. Files share worker processes: loading the modules again for each of 200
// files would take minutes.
const named = (suffix: string): string[] =>
  ["packages/*/src", "apps/*/src", "scripts"].map((folder) => `${folder}/**/*${suffix}`);
const pure = named(".test.ts");
const real = named(".binary.test.ts");
const extended = named(".extended.test.ts");

// `npm run soak`: tests that repeat faults or generate cases do so many times instead of a few.
const soak = process.env["TANDEM_SOAK"] === "1";
/** `npm test` measures it before its checks and the build. */
const slowness = Number(process.env["TANDEM_TEST_SLOWNESS"] ?? measureSlowness());
/** The only timeouts of tests. They find hangs; a state that comes late on a busy machine is still correct. */
const timeouts = ({ test, poll }: { test: number; poll: number }) => ({
  testTimeout: test * slowness,
  hookTimeout: test * slowness,
  expect: { poll: { timeout: poll * slowness } },
});

/** Vitest starts with the largest files. These are small and take long: their tests are in other files, or start many programs. */
const LONG = /\/browser\/|\.contract\.(binary|extended)\.|\/scripts\//;
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Both cores stay busy: these tests often wait for other processes and timers. Extended ones start whole fleets, hence fewer. */
const withPrograms = (name: string, include: string[], { group, workers }: { group: number; workers: number }) => ({
  extends: true as const,
  test: {
    name,
    sequence: { groupOrder: group },
    include,
    pool: "forks" as const,
    isolate: false,
    maxWorkers: workers,
    ...timeouts({ test: soak ? 1_200_000 : 240_000, poll: 60_000 }),
  },
});

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether this is the long run, `npm run soak`. */
    soak: boolean;
    /** How many times slower than an idle machine this one is; at least 1. Upper bounds on durations are multiplied by it. */
    slowness: number;
  }
}

export default defineConfig({
  test: {
    provide: { soak, slowness },
    sequence: { sequencer: LongestFirst },
    // For settings of child processes that race with real time, such as leases.
    env: { TANDEM_TEST_SLOWNESS: String(slowness) },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          sequence: { groupOrder: 0 },
          include: pure,
          exclude: ["**/node_modules/**", ...real, ...extended],
          isolate: false,
          // One more than cores: some of these tests wait for timers and loopback.
          maxWorkers: availableParallelism() + 1,
          ...timeouts({ test: soak ? 1_200_000 : 20_000, poll: 10_000 }),
        },
      },
      withPrograms("binary", real, { group: 1, workers: 6 }),
      withPrograms("extended", extended, { group: 2, workers: 3 }),
    ],
  },
});
