import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs git as a user would, with its own settings. */
export async function asUser(folder: string, ...args: string[]): Promise<string> {
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"];
  const { stdout } = await run("git", [...who, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  });
  return stdout.trim();
}

/** Commits everything in a folder, creating a repository if needed. */
export async function commitAll(folder: string, message: string): Promise<string> {
  await asUser(folder, "init", "--quiet");
  await asUser(folder, "add", "--all");
  await asUser(folder, "commit", "--quiet", "--allow-empty", "--message", message);
  return asUser(folder, "rev-parse", "HEAD");
}
