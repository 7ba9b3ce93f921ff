import type { OptionTable } from "../option-table.ts";

// Scripts are named by an operand. Options that take code, or load a module that no operand names, are left out.

const SCRIPT: OptionTable = { long: "version help", stopsAfter: 1 };
const NODE: OptionTable = {
  flags: "vch",
  long: `version check help test watch test-only test-name-pattern= test-skip-pattern= test-concurrency= test-timeout=
    test-force-exit test-shard= test-isolation= test-coverage-include= test-coverage-exclude=
    experimental-test-coverage experimental-strip-types no-experimental-strip-types no-warnings no-deprecation
    trace-warnings trace-deprecation trace-uncaught throw-deprecation enable-source-maps
    max-old-space-size= stack-trace-limit= unhandled-rejections= expose-gc preserve-symlinks`,
  stopsAfter: 1,
};
const PYTHON: OptionTable = { flags: "BEIOSsuvVqbh", long: "version help", stopsAfter: 1 };
const AFTER_SCRIPT: OptionTable = { stopsAfter: 1 };

const named = (names: string, table: OptionTable): Record<string, OptionTable> =>
  Object.fromEntries(names.split(" ").map((name) => [name, table]));

export const LANGUAGE_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  ...named("node nodejs", NODE),
  ...named("tsx ts-node", { flags: "v", long: "version help", stopsAfter: 1 }),
  ...named("python pypy", PYTHON),
  ...named("perl ruby", { flags: "wv", long: "version help", stopsAfter: 1 }),
  ...named("lua luajit php osascript tclsh groovy julia rscript elixir scala swift", SCRIPT),
  deno: {
    flags: "Vh",
    long: "version help",
    subcommands: {
      run: AFTER_SCRIPT,
      test: { long: "parallel fail-fast[=] filter= no-check[=] quiet" },
      check: {},
      fmt: { long: "check quiet" },
      lint: { long: "quiet json" },
      info: { long: "json" },
      cache: {},
      task: AFTER_SCRIPT,
    },
  },
};

/** `python3.12` is `python`. */
export const languageName = (program: string): string =>
  /^(python|pypy|perl|ruby|lua|php)[\d.]+$/.exec(program)?.[1] ?? program;
