import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { TandemError } from "@tandem/protocol";

const require = createRequire(import.meta.url);

/** The fix for an unusable binary that the user chose. */
export const EXECUTABLE_FIX =
  "Correct --claude-path or llm.claudeCode.executable, or leave it out to use the one that ships with Tandem.";

/** The Claude Code binary bundled with the Agent SDK for this platform, or the user's choice. */
export function findExecutable(configured?: string): string {
  if (configured !== undefined) {
    if (existsSync(configured)) return configured;
    throw new TandemError("no_executable", `There is no Claude Code binary at ${configured}.`, { fix: EXECUTABLE_FIX });
  }
  for (const name of platformPackages()) {
    try {
      const folder = dirname(require.resolve(`@anthropic-ai/claude-agent-sdk-${name}/package.json`));
      const file = join(folder, process.platform === "win32" ? "claude.exe" : "claude");
      if (existsSync(file)) return file;
    } catch {
      // This platform package is not installed; the error below lists all candidates.
    }
  }
  throw new TandemError(
    "no_executable",
    `The Claude Code binary for ${process.platform} ${process.arch} is not installed.`,
    { fix: "Run npm install without --omit=optional, or set llm.claudeCode.executable to a binary of yours." },
  );
}

function platformPackages(): string[] {
  const base = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [base];
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime ? [base, `${base}-musl`] : [`${base}-musl`, base];
}
