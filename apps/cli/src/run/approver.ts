import { TandemError } from "@tandem/protocol";
import { createInterface } from "node:readline/promises";
import type { Context } from "../context.ts";
import { printable, styleFor, widthOf, wrap } from "../terminal.ts";
import { describeCall, toolName, type ToolUse } from "./describe-call.ts";

type Verdict = { allow: true } | { allow: false; message: string; asked: boolean };

/** Says whether a call may be made that its agent's policy wants a person to decide. */
export type Approver = (use: ToolUse) => Promise<Verdict>;

/** The tools of a toolset's name, in small letters: Claude Code has several where the toolset has one. */
const COVERS: Record<string, readonly string[]> = {
  bash: ["bash", "bashoutput", "killshell", "monitor"],
  edit: ["edit", "notebookedit"],
};

const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** Whether one of the names after `--allow` means this tool: `bash`, `WebFetch`, `web_fetch`, `server.tool`, `server.*`. */
export function isNamed(names: readonly string[], use: ToolUse): boolean {
  const tool = plain(toolName(use));
  return names.some((name) => {
    const wanted = plain(name);
    if (wanted.endsWith(".*")) return tool.startsWith(wanted.slice(0, -1));
    return wanted === tool || (COVERS[wanted]?.includes(tool) ?? false);
  });
}

/** By the flags where they say, otherwise by asking; where there is nobody to ask, no. */
export function createApprover(
  context: Context,
  { allow, allowEverything, pause }: { allow: readonly string[]; allowEverything: boolean; pause: () => void },
): Approver {
  const { stdin, stderr, json } = context;
  return async (use) => {
    if (allowEverything || isNamed(allow, use)) return { allow: true };
    if (!stdin.isTTY || !stderr.isTTY || json) {
      const message = `\`tandem run\` was started where nobody can be asked, so this call of ${toolName(use)} was denied.`;
      return { allow: false, message, asked: false };
    }
    pause();
    return ask(context, use);
  };
}

async function ask({ stdin, stderr, signal }: Context, use: ToolUse): Promise<Verdict> {
  const { warn, bold, dim } = styleFor(stderr);
  stderr.write(`${warn("?")} ${bold(printable(toolName(use)))} ${dim("wants to go ahead:")}\n`);
  for (const line of details(use)) for (const row of wrap(line, widthOf(stderr) - 4)) stderr.write(`    ${row}\n`);
  const terminal = createInterface({ input: stdin, output: stderr });
  // While a line is being typed, the terminal does not send the signal by itself.
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    const answer = (
      await terminal.question(`  ${dim("y")} yes  ${dim("n")} no  ${dim("or say what to do instead:")} `, { signal })
    ).trim();
    if (/^y(es)?$/i.test(answer)) return { allow: true };
    const message = /^(no?)?$/i.test(answer) ? "The user said no." : `The user said no, and: ${answer}`;
    return { allow: false, message, asked: true };
  } catch (cause) {
    if (signal.aborted || (cause as Error).name === "AbortError")
      throw new TandemError("aborted", "Interrupted.", { cause });
    throw cause;
  } finally {
    terminal.close();
  }
}

const MOST_LINES = 20;

/** What one has to see before one says yes: the whole command, what is written where. */
function details(use: ToolUse): string[] {
  const text = (key: string): string[] => {
    const value = use.input[key];
    return typeof value === "string" ? printable(value).split("\n") : [];
  };
  const marked = (mark: string, lines: readonly string[]) => lines.map((line) => `${mark} ${line}`);
  switch (use.name) {
    case "Bash":
      // All of it: what is not shown cannot be agreed to.
      return text("command");
    case "Edit":
      return [...text("file_path"), ...cut([...marked("-", text("old_string")), ...marked("+", text("new_string"))])];
    case "Write":
      return [...text("file_path"), ...cut(marked("+", text("content")))];
    default:
      return [describeCall(use)];
  }
}

const cut = (lines: string[]): string[] =>
  lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `… ${lines.length - MOST_LINES} lines more`] : lines;
