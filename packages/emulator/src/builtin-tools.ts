import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import type { RunBuiltinTool } from "@tandem/claude-code/emulated";
import { z } from "zod";
import type { ToolScript } from "./tool-script.ts";

const readInput = z.object({ file_path: z.string() });
const writeInput = z.object({ file_path: z.string(), content: z.string() });
const editInput = z.object({
  file_path: z.string(),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/** Text of Claude Code's own results that other programs rely on. */
const FIXED: Readonly<Record<string, string>> = {
  ExitPlanMode: "The user has approved the plan.",
  TodoWrite: "Todos have been modified successfully.",
  StructuredOutput: "Structured output provided successfully.",
};

/**
 * Built-in tools without a process. `Read`, `Write` and `Edit` work on the session's folder, and `Agent` runs a subagent. Other
 * tools answer what the test says, and otherwise nothing: `Bash` runs no command.
 */
export const builtinTools =
  (script: ToolScript): RunBuiltinTool =>
  async ({ id, name, input, folder, runSubagent }) => {
    const own = script[name];
    if (own) {
      const result = await own(input, { id, folder });
      return typeof result === "string" ? { text: result } : result;
    }
    switch (name) {
      case "Read":
        return { text: await readFile(within(folder, readInput.parse(input).file_path), "utf8") };
      case "Write": {
        const { file_path: path, content } = writeInput.parse(input);
        const file = within(folder, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
        return { text: `File created successfully at: ${path}` };
      }
      case "Edit":
        return { text: await edit(folder, editInput.parse(input)) };
      case "Agent":
        return { text: await runSubagent() };
      default:
        return { text: FIXED[name] ?? "" };
    }
  };

async function edit(folder: string, input: z.infer<typeof editInput>): Promise<string> {
  const { file_path: path, old_string: old, new_string: next, replace_all: all } = input;
  const file = within(folder, path);
  const before = await readFile(file, "utf8");
  const times = before.split(old).length - 1;
  if (times === 0) throw new Error(`String to replace not found in file: ${old}`);
  if (times > 1 && !all) throw new Error(`Found ${times} matches of the string to replace, but replace_all is false.`);
  await writeFile(file, all ? before.replaceAll(old, () => next) : before.replace(old, () => next));
  return `The file ${path} has been updated.`;
}

function within(folder: string, path: string): string {
  const file = resolve(folder, path);
  if (file !== folder && !file.startsWith(`${folder}${sep}`))
    throw new Error(`${path} is outside of the session's folder.`);
  return file;
}
