import type { OptionTable } from "../option-table.ts";

// The files of a build decide what it runs. The lists omit options that name other files, folders, shells or programs.

const GO_BUILD = `v x n a race cover json short failfast work trimpath run= count= timeout= bench= benchtime= benchmem
  parallel= cpu= tags= skip= shuffle= covermode= coverpkg= list= mod= p= fullpath`;
const GO: OptionTable = { words: GO_BUILD };
/** Everything after the script belongs to the script. */
const SCRIPT: OptionTable = { flags: "s", long: "silent if-present", stopsAfter: 1 };

/** npm reads a word with dashes as an option even where a value is expected, so no option consumes the next word. */
const NPM_LONG = `silent quiet verbose json long parseable all depth[=] omit[=] include[=] workspace[=] workspaces
  include-workspace-root if-present ignore-scripts no-audit no-fund no-color color save
  no-save save-dev save-exact save-peer save-optional save-prod legacy-peer-deps force dry-run global production
  prefer-offline offline no-progress no-package-lock package-lock-only loglevel[=] version help foreground-scripts
  audit-level[=]`;
const NPM: OptionTable = { flags: "sqDEPOBgflahv", glued: "w", long: NPM_LONG };
const isNoOption = (text: string): boolean => !text.startsWith("-");
/** Before the subcommand, a word that is a value must not count as the subcommand: `npm --workspace run exec x`. */
const BEFORE: OptionTable = {
  flags: "sqglhv",
  values: "w",
  long: `silent quiet verbose json global force offline prefer-offline no-color no-progress no-audit no-fund version help
    if-present workspaces workspace= loglevel=`,
  accepts: { w: isNoOption, workspace: isNoOption, loglevel: isNoOption },
};
const npmCommands = (names: string): Record<string, OptionTable> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, NPM]));

const CARGO_LONG = `release package= workspace all all-targets all-features features= no-default-features quiet verbose lib
  bins bin= examples example= tests test= benches bench= doc jobs= keep-going locked offline frozen
  message-format= profile= target= color= no-run no-fail-fast exclude= edges= depth= invert= duplicates
  format-version= no-deps fix allow-dirty allow-staged check list version help timings[=] ignore-rust-version`;
const CARGO: OptionTable = { flags: "rqvhVd", values: "pFjei", long: CARGO_LONG };
const cargoCommands = (names: string): Record<string, OptionTable> =>
  Object.fromEntries(names.split(" ").map((name) => [name, CARGO]));

export const BUILD_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  npm: {
    ...BEFORE,
    subcommands: npmCommands(
      `run run-script rum urn test t tst start stop restart ci clean-install install i add uninstall remove rm un
      update up upgrade ls list ll la view info show outdated audit pack version why explain ping whoami search
      prefix root fund dedupe ddp prune rebuild rb doctor link ln query help install-test it cit`,
    ),
  },
  pnpm: {
    flags: "rsvh",
    long: "recursive silent version help filter=",
    accepts: { filter: isNoOption },
    subcommands: {
      run: SCRIPT,
      test: SCRIPT,
      t: SCRIPT,
      start: SCRIPT,
      build: SCRIPT,
      lint: SCRIPT,
      dev: SCRIPT,
      format: SCRIPT,
      typecheck: SCRIPT,
      install: NPM,
      i: NPM,
      add: NPM,
      remove: NPM,
      update: NPM,
      list: NPM,
      ls: NPM,
      why: NPM,
      outdated: NPM,
      audit: NPM,
    },
  },
  yarn: {
    flags: "sv",
    long: "silent version",
    subcommands: {
      run: NPM,
      test: NPM,
      start: NPM,
      build: NPM,
      lint: NPM,
      dev: NPM,
      format: NPM,
      typecheck: NPM,
      install: { ...NPM, long: `${NPM_LONG} frozen-lockfile immutable` },
      add: NPM,
      remove: NPM,
      list: NPM,
      why: NPM,
      info: NPM,
      outdated: NPM,
      audit: NPM,
    },
  },
  bun: {
    flags: "v",
    long: "version",
    subcommands: { run: SCRIPT, test: NPM, install: NPM, i: NPM, add: NPM, remove: NPM, build: NPM, outdated: NPM },
  },
  // `VAR=value` sets the shell or a program.
  make: {
    flags: "kisnqBrRSwdhv",
    glued: "jlO",
    long: `keep-going ignore-errors silent quiet no-silent dry-run just-print recon question always-make jobs[=]
      load-average[=] max-load[=] output-sync[=] print-directory no-print-directory no-builtin-rules
      no-builtin-variables warn-undefined-variables trace debug[=] version help`,
    operand: (text) => !text.includes("="),
  },
  cargo: {
    flags: "qvV",
    long: "quiet verbose version locked offline frozen list color=",
    subcommands: {
      ...cargoCommands(
        "build b check c test t run r bench doc d tree metadata fmt search update version verify-project",
      ),
      // After `--` come options of the compiler, which name a linker among others.
      clippy: {
        ...CARGO,
        values: `${CARGO.values}DWAF`,
        operand: (text) => /^(?:-[DWAF]|warnings|clippy::[\w:]+|[a-z_]+)$/.test(text),
      },
    },
  },
  go: {
    subcommands: {
      build: { words: `${GO_BUILD} o=` },
      test: GO,
      vet: { words: "v x n json c= tags=" },
      run: { words: "v x n a race tags=", stopsAfter: 1 },
      fmt: { words: "n x" },
      list: { words: "m u json f= deps test e find tags= versions" },
      version: { words: "m v" },
      doc: { words: "all c cmd short src u" },
      mod: { words: "v x e json compat= diff reuse=", operand: (text) => text !== "edit" && text !== "init" },
      get: { words: "u t v d x" },
      clean: { words: "i n r x cache testcache" },
      help: {},
    },
  },
  ...Object.fromEntries(
    "gcc g++ cc clang clang++ c++".split(" ").map((name) => [
      name,
      {
        words: `c S E g g1 g2 g3 o= O O0 O1 O2 O3 Os Og Wall Wextra Werror Wpedantic pedantic w v std[=] ansi pthread
          fPIC fpic shared static MMD MP lm lpthread lc`,
        long: "version help",
        operand: (text: string) => !text.startsWith("@"),
      } satisfies OptionTable,
    ]),
  ),
  ld: { operand: () => false },
  rustc: { flags: "VvOgh", long: "version verbose help edition=", operand: (text) => !text.startsWith("@") },
};
