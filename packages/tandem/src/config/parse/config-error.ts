import { TandemError } from "@tandem/protocol";

export interface ConfigProblem {
  /** 1-based. 0 means the whole file. */
  line: number;
  column: number;
  /** `llm.models.default`. Empty for a syntax error. */
  key: string;
  message: string;
  allowed?: readonly string[];
  nearest?: string;
}

/** Reports all problems of a config file at once. */
export class ConfigError extends TandemError {
  readonly file: string;
  readonly problems: readonly ConfigProblem[];

  constructor(file: string, problems: readonly ConfigProblem[]) {
    const lines = problems.map((problem) => describe(file, problem));
    super(
      "config_invalid",
      lines.length === 1
        ? lines[0]!
        : `${file} has ${lines.length} problems:\n${lines.map((line) => `  ${line}`).join("\n")}`,
      { fix: "Correct the file; `tandem config schema` prints every key with its allowed values." },
    );
    this.file = file;
    this.problems = problems;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), file: this.file, problems: this.problems };
  }
}

function describe(file: string, problem: ConfigProblem): string {
  const place = problem.line > 0 ? `${file}:${problem.line}:${problem.column}` : file;
  return `${place}: ${describeProblem(problem)}`;
}

/** Omits the location, for a value that does not come from a file. */
export function describeProblem({ key, message, allowed, nearest }: ConfigProblem): string {
  return [
    `${key ? `${key}: ` : ""}${message}.`,
    nearest && ` Did you mean ${nearest}?`,
    allowed && ` Allowed: ${allowed.join(", ")}.`,
  ]
    .filter(Boolean)
    .join("");
}
