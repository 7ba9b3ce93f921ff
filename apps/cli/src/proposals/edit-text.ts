import { TandemError } from "@tandem/protocol";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Invocation } from "../invocation.ts";

/**
 * Opens a text in the user's editor and returns the result. The file keeps its real name, so that the editor detects the type.
 */
export async function editText(
  { env, stdin, stderr, signal }: Invocation,
  path: string,
  text: string,
): Promise<string> {
  const editor = env["VISUAL"] || env["EDITOR"];
  if (!editor || !stdin.isTTY || !stderr.isTTY) {
    throw new TandemError("usage", editor ? "There is no terminal for an editor." : "No editor is set in EDITOR.", {
      fix: "Give the new text with --file, or set EDITOR.",
    });
  }
  const folder = await mkdtemp(join(tmpdir(), "tandem-edit-"));
  try {
    const file = join(folder, basename(path));
    await writeFile(file, text, { mode: 0o600 });
    await run(editor, file, signal);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The editor setting may contain arguments, as in `code --wait`. git reads it the same way. */
function run(editor: string, file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "editor", file], { stdio: "inherit", signal });
    child.once("error", reject).once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new TandemError("declined", "The editor failed. Nothing was changed."));
    });
  });
}
