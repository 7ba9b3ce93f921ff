import { runGit, GitFailed } from "@tandem/workspace";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

/** Long enough for the history of thousands of tables on a slow disk. */
const LIMITS = { timeoutMs: 1_800_000, maxBytes: 1_024 * 1_024 * 1_024 };
/** Holds the new commits until the branches point to them. */
export const REWRITTEN_REF = "refs/tandem/rewritten";
const BLOBS_AT_ONCE = 2_000;

/** Runs git and returns bytes as a latin1 string, which keeps names and messages of any encoding. */
export async function gitBytes(
  gitDir: string,
  args: readonly string[],
  input: string | Uint8Array = "",
): Promise<string> {
  const bytes = typeof input === "string" ? Buffer.from(input, "latin1") : input;
  const outcome = await runGit(gitDir, ["--git-dir", gitDir, ...args], { ...LIMITS, input: bytes });
  if (outcome.exitCode !== 0) throw new GitFailed(args, outcome);
  return outcome.stdout.toString("latin1");
}

interface Entry {
  mode: string;
  blob: string;
  isDeleted: boolean;
  path: string;
}

interface Commit {
  id: string;
  parents: string[];
  /** Against the first parent. */
  entries: Entry[];
}

export interface HistoryPlan {
  commits: readonly Commit[];
  /** New contents of files, by blob. */
  contents: ReadonlyMap<string, Buffer>;
  /** Number of commits that get another name. */
  changed: number;
}

/** Reads all commits of these refs, and the files that `rewrite` changes in them. */
export async function planHistory(
  gitDir: string,
  refs: readonly string[],
  rewrite: (path: string, text: string) => string,
): Promise<HistoryPlan> {
  const commits = await readCommits(gitDir, refs);
  const pathOf = new Map<string, string>();
  for (const { entries } of commits) {
    for (const { blob, path, mode, isDeleted } of entries) {
      if (!isDeleted && mode.startsWith("100") && /^catalogue\/.*\.ya?ml$/i.test(path)) pathOf.set(blob, path);
    }
  }
  const contents = new Map<string, Buffer>();
  for await (const [blob, content] of readBlobs(gitDir, [...pathOf.keys()])) {
    const text = content.toString("utf8");
    const next = rewrite(pathOf.get(blob)!, text);
    if (next !== text) contents.set(blob, Buffer.from(next));
  }
  const renamed = new Set<string>();
  for (const { id, parents, entries } of commits) {
    const isRenamed = parents.some((parent) => renamed.has(parent)) || entries.some(({ blob }) => contents.has(blob));
    if (isRenamed) renamed.add(id);
  }
  return { commits, contents, changed: renamed.size };
}

async function readCommits(gitDir: string, refs: readonly string[]): Promise<Commit[]> {
  if (refs.length === 0) return [];
  const listed = await gitBytes(
    gitDir,
    ["rev-list", "--topo-order", "--reverse", "--parents", "--stdin"],
    `${refs.join("\n")}\n`,
  );
  const commits = new Map(
    listed
      .split("\n")
      .filter(Boolean)
      .map((line): [string, Commit] => {
        const [id = "", ...parents] = line.split(" ");
        return [id, { id, parents, entries: [] }];
      }),
  );
  // With one parent given, git compares with that one only, also for a merge.
  const asked = [...commits.values()].map(({ id, parents }) => [id, ...parents.slice(0, 1)].join(" "));
  const args = ["diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--raw", "--full-index", "-m"];
  const tokens = (await gitBytes(gitDir, args, `${asked.join("\n")}\n`)).split("\0");
  let commit: Commit | undefined;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!.replace(/^\n/, "");
    if (!token.startsWith(":")) {
      commit = commits.get(token.trim().split(" ")[0]!) ?? commit;
      continue;
    }
    const [, mode = "", , blob = "", status = ""] = token.slice(1).split(" ");
    at += 1;
    commit!.entries.push({ mode, blob, isDeleted: status.startsWith("D"), path: tokens[at]! });
  }
  return [...commits.values()];
}

/** Contents of blobs, a portion at a time. */
export async function* readBlobs(gitDir: string, names: readonly string[]): AsyncGenerator<[string, Buffer]> {
  for (let from = 0; from < names.length; from += BLOBS_AT_ONCE) {
    yield* await readObjects(gitDir, names.slice(from, from + BLOBS_AT_ONCE));
  }
}

async function readObjects(gitDir: string, names: readonly string[]): Promise<[string, Buffer][]> {
  const output = Buffer.from(await gitBytes(gitDir, ["cat-file", "--batch"], `${names.join("\n")}\n`), "latin1");
  const found: [string, Buffer][] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0x0a, at);
    const [name = "", , size] = output.toString("latin1", at, end).split(" ");
    found.push([name, output.subarray(end + 1, end + 1 + Number(size))]);
    at = end + 1 + Number(size) + 1;
  }
  return found;
}

/** Writes the new commits beside the old ones. Returns new names by old ones. No ref of a branch moves. */
export async function writeHistory(gitDir: string, { commits, contents }: HistoryPlan): Promise<Map<string, string>> {
  const raw = new Map<string, Buffer>();
  for await (const [id, content] of readBlobs(
    gitDir,
    commits.map(({ id }) => id),
  ))
    raw.set(id, content);
  const parts: Buffer[] = [];
  const text = (line: string) => parts.push(Buffer.from(line, "latin1"));
  const data = (content: Uint8Array) => {
    text(`data ${content.byteLength}\n`);
    parts.push(Buffer.from(content));
    text("\n");
  };
  text("feature done\n");
  const marks = new Map<string, number>();
  const markOf = (name: string) => {
    if (!marks.has(name)) marks.set(name, marks.size + 1);
    return marks.get(name)!;
  };
  for (const [blob, content] of contents) {
    text(`blob\nmark :${markOf(blob)}\n`);
    data(content);
  }
  for (const { id, parents, entries } of commits) {
    const { author, committer, encoding, message } = parseCommit(raw.get(id)!);
    const [first, ...others] = parents;
    // Otherwise git would take the last commit of the ref for the parent.
    if (first === undefined) text(`reset ${REWRITTEN_REF}\n\n`);
    text(`commit ${REWRITTEN_REF}\nmark :${markOf(id)}\n${author}\n${committer}\n${encoding ? `${encoding}\n` : ""}`);
    data(message);
    if (first !== undefined) text(`from :${markOf(first)}\n`);
    for (const parent of others) text(`merge :${markOf(parent)}\n`);
    for (const { path, isDeleted } of entries) if (isDeleted) text(`D ${quoted(path)}\n`);
    for (const { mode, blob, path, isDeleted } of entries) {
      if (!isDeleted) text(`M ${mode} ${contents.has(blob) ? `:${markOf(blob)}` : blob} ${quoted(path)}\n`);
    }
    text("\n");
  }
  text("done\n");
  const marksFile = join(gitDir, "tandem-rewritten-marks");
  try {
    await gitBytes(
      gitDir,
      ["fast-import", "--quiet", "--force", "--date-format=raw-permissive", `--export-marks=${marksFile}`],
      Buffer.concat(parts),
    );
    const made = new Map(
      (await readFile(marksFile, "utf8"))
        .split("\n")
        .filter(Boolean)
        .map((line): [number, string] => {
          const [mark = "", name = ""] = line.split(" ");
          return [Number(mark.slice(1)), name];
        }),
    );
    return new Map(commits.map(({ id }) => [id, made.get(marks.get(id)!)!]));
  } finally {
    await rm(marksFile, { force: true });
  }
}

/** The lines of a commit that stay. Signatures are dropped: they are not valid for another content. */
function parseCommit(raw: Buffer): {
  author: string;
  committer: string;
  encoding: string | undefined;
  message: Buffer;
} {
  const end = raw.indexOf("\n\n");
  const lines = raw.toString("latin1", 0, end === -1 ? raw.length : end).split("\n");
  const find = (start: string) => lines.find((line) => line.startsWith(start));
  return {
    author: find("author ")!,
    committer: find("committer ")!,
    encoding: find("encoding "),
    message: end === -1 ? Buffer.alloc(0) : raw.subarray(end + 2),
  };
}

const quoted = (path: string): string =>
  `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;

/** Writes all refs into a file that only its owner can read, and checks it. */
export async function writeBundle(gitDir: string, file: string): Promise<void> {
  await gitBytes(gitDir, ["bundle", "create", "--quiet", file, "--all"]);
  await chmod(file, 0o600);
  await gitBytes(gitDir, ["bundle", "verify", "--quiet", file]);
}
