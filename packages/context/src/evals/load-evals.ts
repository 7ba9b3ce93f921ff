import { type EvalFileSummary, RequestError, TandemError } from "@tandem/protocol";
import { describeProblem } from "../formats/file-problem.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { type EvalFile, type EvalQuestion, parseEvalFile } from "../formats/eval-file.ts";

const PREFIX = "evals/";

export interface LoadedEvals {
  path: string;
  file: EvalFile;
}

/** One question with its file. */
export interface AskedQuestion extends LoadedEvals {
  question: EvalQuestion;
}

type Reading = Pick<ContextFolder, "list" | "read">;

/** All files with their problems, for a list. */
export async function listEvals(folder: Reading): Promise<EvalFileSummary[]> {
  return await Promise.all(
    (await pathsIn(folder)).map(async (path) => {
      const parsed = parseEvalFile((await folder.read(path)) ?? "");
      if (!parsed.success) {
        return { path, connection: null, questions: 0, tags: {}, problems: parsed.problems.map(describeProblem) };
      }
      const { connection, questions } = parsed.file;
      const tags: Record<string, number> = {};
      for (const tag of questions.flatMap((question) => question.tags)) tags[tag] = (tags[tag] ?? 0) + 1;
      return { path, connection, questions: questions.length, tags, problems: [] };
    }),
  );
}

/** The named files, or all. Rejects with the problems of all of them, by path and line. */
export async function loadEvals(folder: Reading, names: readonly string[]): Promise<LoadedEvals[]> {
  const paths = await pathsIn(folder);
  const wanted = names.length === 0 ? paths : names.map((name) => pathOf(name, paths));
  if (wanted.length === 0) {
    throw new RequestError("not_found", "The context has no evals.", {
      fix: "Write questions to evals/NAME.yaml in the context's folder; docs/guides/evals.md shows how.",
    });
  }
  const problems: string[] = [];
  const loaded: LoadedEvals[] = [];
  for (const path of new Set(wanted)) {
    const parsed = parseEvalFile((await folder.read(path)) ?? "");
    if (parsed.success) loaded.push({ path, file: parsed.file });
    else problems.push(...parsed.problems.map(({ line, message }) => `${path}:${line ?? 1}: ${message}`));
  }
  if (problems.length === 0) return loaded;
  throw new TandemError("bad_file", problems.join("\n"), { fix: "Correct the file, and run it again." });
}

/** With a tag, only the questions that have one of these. */
export function questionsOf(files: readonly LoadedEvals[], tags: readonly string[]): AskedQuestion[] {
  const questions = files.flatMap((loaded) => loaded.file.questions.map((question) => ({ ...loaded, question })));
  const chosen = questions.filter(
    ({ question }) => tags.length === 0 || question.tags.some((tag) => tags.includes(tag)),
  );
  if (chosen.length > 0) return chosen;
  const known = [...new Set(questions.flatMap(({ question }) => question.tags))].sort();
  throw new RequestError("not_found", `No question has the tag ${tags.join(" or ")}.`, {
    fix: `Tags: ${known.join(", ")}.`,
  });
}

const pathsIn = async (folder: Reading): Promise<string[]> =>
  (await folder.list(PREFIX)).filter((path) => path.endsWith(".yaml"));

function pathOf(name: string, paths: readonly string[]): string {
  const bare = name.replace(/^(\.\/)?/, "");
  const found =
    paths.find((path) =>
      [path, path.slice(PREFIX.length), path.slice(PREFIX.length, -".yaml".length)].includes(bare),
    ) ?? paths.find((path) => bare.endsWith(`/${path}`));
  if (found !== undefined) return found;
  throw new RequestError("not_found", `The context has no evals ${name}.`, {
    fix:
      paths.length === 0
        ? "Write questions to evals/NAME.yaml in the context's folder."
        : `Files: ${paths.join(", ")}.`,
  });
}
