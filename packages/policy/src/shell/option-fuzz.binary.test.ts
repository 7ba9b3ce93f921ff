import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { expandLine } from "./expand-line.ts";
import { GIT_READS, READERS } from "./programs.ts";

// Runs programs that the rules take for harmless with options from their own help, and watches them: a line without a word
// that needs approval must start no other program and must not write.

/** It would only pass the time. */
const SKIPPED = new Set(["sleep"]);
const BASES = [
  ...[...READERS].filter((name) => !SKIPPED.has(name)).map((name) => [name]),
  ...[...GIT_READS, "reflog"].map((part) => ["git", part]),
];
const VALUES = [
  "1",
  "a.txt",
  "x",
  "HEAD",
  "{}",
  "/dev/null",
  "s/a/b/w out.txt",
  "1e touch out.txt",
  "%h",
  "=1",
  "name",
];
/** Known escapes that a help text may not mention. */
const MORE = ["--format", "--pretty", "--show-signature", "--ext-diff", "--textconv", "--output", "--help"];
const LINES_EACH = inject("soak") ? 60 : 1;

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tandem-options-")));
const home = join(folder, "home");
const work = join(folder, "work");
const stubs = join(folder, "stubs");
const ran = join(folder, "ran");
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  PATH: `${stubs}:/usr/local/bin:/usr/bin:/bin`,
  HOME: home,
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  TMPDIR: folder,
  ...Object.fromEntries(
    ["PAGER", "GIT_PAGER", "EDITOR", "GIT_EDITOR", "BROWSER", "MANPAGER"].map((name) => [name, "less"]),
  ),
};

/** Programs that options of others start, replaced by one that leaves a mark. */
function prepare(): void {
  for (const path of [home, work, stubs]) mkdirSync(path);
  const names =
    `sh bash less more pager man vi vim nano editor gpg gpg2 ssh gzip bzip2 xz zstd uncompress pr rsh rmt python3 perl
    touch strip xdg-open sensible-pager sensible-editor`.split(/\s+/);
  for (const name of names) {
    writeFileSync(join(stubs, name), `#!/bin/dash\necho ${name} "$@" >> ${ran}\n`, { mode: 0o755 });
  }
  for (const [name, text] of Object.entries({ "a.txt": "a b\nb c\n", "b.txt": "a\nx y\n", "c.json": '{"a":1}' })) {
    writeFileSync(join(work, name), text);
  }
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"],
  ]) {
    spawnSync("git", args, { cwd: work, env: { ...env, PATH: "/usr/local/bin:/usr/bin:/bin" } });
  }
}

/** A seeded generator, so that a failure can be reproduced. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; yield state / 0x7fffffff) state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
}
const random = numbers(20_272);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next().value * from.length)]!;

function optionsOf(program: string, part?: string): string[] {
  const args = part === undefined ? ["--help"] : [part, "--git-completion-helper-all"];
  const { stdout, stderr } = spawnSync(program, args, { cwd: work, env, encoding: "utf8", timeout: 5_000, input: "" });
  const found = `${stdout} ${stderr}`.match(/(?<![\w-])--?[A-Za-z0-9][\w-]*=?/g) ?? [];
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".split("").map((letter) => `-${letter}`);
  return [...new Set([...found.map((each) => each.replace(/=$/, "")), ...letters, ...MORE])];
}

const quoted = (word: string): string => (/^[\w./=%-]+$/.test(word) ? word : `'${word}'`);

function madeUpLine(base: readonly string[], options: readonly string[]): string[] {
  const words = [...base];
  for (let count = 1 + Math.floor(random.next().value * 3); count > 0; count -= 1) {
    const option = pick(options);
    const value = pick(VALUES);
    const form = random.next().value;
    if (form < 0.4) words.push(option);
    else if (form < 0.6) words.push(option, value);
    else if (form < 0.8) words.push(option.startsWith("--") ? `${option}=${value}` : `${option}${value}`);
    // Abbreviated
    else words.push(option.slice(0, Math.max(3, option.length - 2)));
  }
  return random.next().value < 0.7 ? [...words, pick(["a.txt", "b.txt", "1", "."])] : words;
}

/** Names, sizes and times of all files. */
function snapshot(path: string): string {
  return (
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // Git refreshes cached times in its index when it reads.
      .filter((file) => !file.endsWith("/.git/index"))
      .map((file) => `${file} ${statSync(file).size} ${statSync(file).mtimeMs}`)
      .toSorted()
      .join("\n")
  );
}

/** Whether the rules let the line pass beside a deny, as one that only reads. */
function isHarmless(line: string): boolean {
  const { units, doubts } = expandLine(line);
  return doubts.length === 0 && units.every(({ reach, hatches }) => reach === "reads" && hatches.length === 0);
}

test("options that the rules take for harmless neither run programs nor write", () => {
  prepare();
  const isThere = (name: string): boolean => env.PATH.split(":").some((place) => existsSync(join(place, name)));
  const faults: string[] = [];
  let tried = 0;
  // The shell's own words are no programs.
  const bases = BASES.filter(([name]) => isThere(name!));
  for (const base of bases) {
    const options = optionsOf(base[0]!, base[1]);
    for (let count = 0, harmless = 0; count < LINES_EACH * 10 && harmless < LINES_EACH; count += 1) {
      const words = madeUpLine(base, options);
      const line = words.map(quoted).join(" ");
      if (!isHarmless(line)) continue;
      harmless += 1;
      tried += 1;
      const before = snapshot(folder);
      spawnSync(words[0]!, words.slice(1), { cwd: work, env, input: "a\n", timeout: 2_000, killSignal: "SIGKILL" });
      if (snapshot(folder) === before) continue;
      faults.push(line);
      rmSync(ran, { force: true });
    }
  }
  expect(faults).toEqual([]);
  // A table that lists nothing would pass too.
  expect(tried).toBeGreaterThan(bases.length / 2);
});
