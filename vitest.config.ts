import { defineConfig } from "vitest/config";

// Pure tests share one context and take seconds. Tests named *.binary.test.ts start the real Claude Code, other
// programs or servers: each file alone in a process, few at once, with deadlines that suit a busy machine.
const pure = ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "scripts/**/*.test.ts"];
const real = ["packages/*/src/**/*.binary.test.ts", "apps/*/src/**/*.binary.test.ts", "scripts/**/*.binary.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          sequence: { groupOrder: 0 },
          include: pure,
          exclude: ["**/node_modules/**", ...real],
          isolate: false,
          testTimeout: 10_000,
          expect: { poll: { timeout: 5_000 } },
        },
      },
      {
        test: {
          name: "binary",
          sequence: { groupOrder: 1 },
          include: real,
          pool: "forks",
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // A state that is awaited comes late on a busy machine, and is right all the same.
          expect: { poll: { timeout: 20_000 } },
        },
      },
    ],
  },
});
