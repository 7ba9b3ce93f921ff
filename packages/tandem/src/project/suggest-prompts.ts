import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const SUGGESTED = 3;
const GIT_MS = 2_000;
const DATABASE = /\.(sqlite3?|db|duckdb)$/i;
const README = /^readme(\.\w+)?$/i;
/** Folders that commonly hold a database file. */
const DATA_FOLDERS = ["data", "db"];
const TEST_FILES = new Set([
  "pyproject.toml",
  "pytest.ini",
  "Cargo.toml",
  "go.mod",
  "pom.xml",
  "build.gradle",
  "Gemfile",
]);

const FOR_ANY_FOLDER = [
  "Explain what this folder contains and how it is organised.",
  "Find one small improvement in this folder and make it.",
  "Write a short README.md for this folder.",
];
const FOR_AN_EMPTY_FOLDER = [
  "Create a small command-line program with one test.",
  "Create a web page that says hello, without a framework.",
  "Make a plan for a to-do list app, and ask me what you need to know.",
];

/** Three first prompts for a folder, by its content. Never fewer. */
export async function suggestPrompts(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const shown = names.filter((name) => !name.startsWith("."));
  if (shown.length === 0) return FOR_AN_EMPTY_FOLDER;
  const [hasTests, hasCommits, database] = await Promise.all([
    canTest(folder, names),
    hasHistory(folder, names),
    findDatabase(folder, shown),
  ]);
  const readme = shown.find((name) => README.test(name));
  const prompts = [
    ...(database === undefined ? [] : [`Describe the tables in ${database} and how they join.`]),
    ...(hasTests ? ["Run the tests and fix the first failure."] : []),
    ...(hasCommits ? ["Summarise the last ten commits in plain words."] : []),
    ...(readme === undefined ? [] : [`Compare ${readme} with the code and list what is out of date.`]),
    ...FOR_ANY_FOLDER.filter((prompt) => readme === undefined || !prompt.includes("README")),
  ];
  return prompts.slice(0, SUGGESTED);
}

async function canTest(folder: string, names: readonly string[]): Promise<boolean> {
  if (names.some((name) => TEST_FILES.has(name))) return true;
  if (!names.includes("package.json")) return false;
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "");
  return /"test"\s*:/.test(text) && !text.includes("no test specified");
}

async function hasHistory(folder: string, names: readonly string[]): Promise<boolean> {
  if (!names.includes(".git")) return false;
  const { findRepository, runGit } = await import("@tandem/workspace");
  const repository = await findRepository(folder);
  if (!repository) return false;
  const outcome = await runGit(repository, ["rev-parse", "--verify", "--quiet", "HEAD"], { timeoutMs: GIT_MS });
  return outcome.exitCode === 0;
}

async function findDatabase(folder: string, names: readonly string[]): Promise<string | undefined> {
  const inside = await Promise.all(
    DATA_FOLDERS.filter((name) => names.includes(name)).map(async (name) =>
      (await readdir(join(folder, name)).catch((): string[] => [])).map((file) => `${name}/${file}`),
    ),
  );
  return [...names, ...inside.flat()].find((name) => DATABASE.test(name));
}
