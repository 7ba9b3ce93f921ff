import { parseJson, questionInput, TandemError, type ApprovalAnswer } from "@tandem/protocol";
import { createInterface } from "node:readline/promises";
import { z } from "zod";
import { diffLines, describeRule } from "../approvals/describe-approval.ts";
import type { Invocation } from "../invocation.ts";
import { editText } from "../proposals/edit-text.ts";
import { printable, styleFor, widthOf, wrap } from "../terminal.ts";
import { describeCall, toolName, type ToolUse } from "../sessions/describe-call.ts";

interface Decision {
  answer: ApprovalAnswer;
  /** True if a person decided. */
  asked: boolean;
}

/** Decides an approval, a plan or a question. Rejects with `aborted` if the signal reports an answer from another client. */
export type Approver = (use: ToolUse, answered: AbortSignal) => Promise<Decision>;

/** Claude Code tools per toolset name, in lower case: one toolset name may cover several tools. */
const COVERS: Record<string, readonly string[]> = {
  bash: ["bash", "bashoutput", "killshell", "monitor"],
  edit: ["edit", "notebookedit"],
};

const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** True if a name after `--allow` matches this tool: `bash`, `WebFetch`, `web_fetch`, `server.tool`, `server.*`. */
export function isNamed(names: readonly string[], use: ToolUse): boolean {
  const tool = plain(toolName(use));
  return names.some((name) => {
    const wanted = plain(name);
    if (wanted.endsWith(".*")) return tool.startsWith(wanted.slice(0, -1));
    return wanted === tool || (COVERS[wanted]?.includes(tool) ?? false);
  });
}

const YES: ApprovalAnswer = { result: "allow", scope: "once" };
const no = (message: string): ApprovalAnswer => ({ result: "deny", scope: "once", message });

/** Decides by the flags, else asks. Denies without a terminal. */
export function createApprover(
  invocation: Invocation,
  { allow, bypass, pause }: { allow: readonly string[]; bypass: boolean; pause: () => void },
): Approver {
  const { stdin, stderr, json } = invocation;
  return async (use, answered) => {
    const isQuestion = use.type === "agent.custom_tool_use";
    if (!isQuestion && (bypass || isNamed(allow, use))) return { answer: YES, asked: true };
    if (!stdin.isTTY || !stderr.isTTY || json) {
      const message = `\`tandem run\` has no terminal to ask for approval on, so this call of ${toolName(use)} was denied.`;
      return { answer: no(message), asked: false };
    }
    pause();
    return { answer: await ask(invocation, use, answered), asked: true };
  };
}

async function ask(invocation: Invocation, use: ToolUse, answered: AbortSignal): Promise<ApprovalAnswer> {
  const { stdin, stderr } = invocation;
  const signal = AbortSignal.any([invocation.signal, answered]);
  const terminal = createInterface({ input: stdin, output: stderr });
  // While readline is active, the terminal does not send SIGINT.
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  const prompt = async (words: string): Promise<string> => (await terminal.question(words, { signal })).trim();
  try {
    switch (use.tandem.approval?.kind) {
      case "question":
        return await askQuestions(invocation, use, prompt);
      case "plan":
        return await askPlan(invocation, use, prompt);
      default:
        return await askCall(invocation, use, prompt, () => terminal.pause());
    }
  } catch (cause) {
    if (answered.aborted) stderr.write(`\n  ${styleFor(stderr).dim("Answered in another client.")}\n`);
    if (signal.aborted || (cause as Error).name === "AbortError")
      throw new TandemError("aborted", "Interrupted.", { cause });
    throw cause;
  } finally {
    terminal.close();
  }
}

type Prompt = (words: string) => Promise<string>;

async function askCall(
  invocation: Invocation,
  use: ToolUse,
  prompt: Prompt,
  pause: () => void,
): Promise<ApprovalAnswer> {
  const { stderr } = invocation;
  const style = styleFor(stderr);
  const { warn, bold, dim, accent } = style;
  const { diff, suggestion } = use.tandem.approval ?? {};
  stderr.write(`${warn("?")} ${bold(printable(toolName(use)))} ${dim("needs approval:")}\n`);
  const lines = diff ? [diff.path, ...cut(diffLines(diff, style))] : details(use);
  for (const line of lines) for (const row of wrap(line, widthOf(stderr) - 4)) stderr.write(`    ${row}\n`);
  const wider = suggestion ? `  ${dim("s")} allow for this session  ${dim("a")} always allow` : "";
  if (suggestion) stderr.write(`  ${dim("rule for s and a:")} ${accent(printable(describeRule(suggestion)))}\n`);
  const answer = await prompt(
    `  ${dim("y")} allow once${wider}  ${dim("e")} edit  ${dim("n")} deny  ${dim("or a reason to deny:")} `,
  );
  if (/^y(es)?$/i.test(answer)) return YES;
  if (suggestion && /^s(ession)?$/i.test(answer)) return { result: "allow", scope: "session" };
  if (suggestion && /^a(lways)?$/i.test(answer)) {
    const whom = await prompt(`  ${dim("save for")} p this project  u you  g this agent ${dim("(p):")} `);
    const place = /^u/i.test(whom) ? "user" : /^g/i.test(whom) ? "agent" : "project";
    return { result: "allow", scope: "always", save_for: place };
  }
  if (/^e(dit)?$/i.test(answer)) {
    pause();
    const text = await editText(invocation, "input.json", `${JSON.stringify(use.input, null, 2)}\n`);
    const input = z.record(z.string(), z.unknown()).safeParse(parseJson(text));
    if (input.success) return { ...YES, input: input.data };
    stderr.write(`  ${warn("That is not a JSON object.")}\n`);
    return askCall(invocation, use, prompt, pause);
  }
  return no(/^(no?)?$/i.test(answer) ? "The user said no." : `The user said no, and: ${answer}`);
}

async function askPlan({ stderr }: Invocation, use: ToolUse, prompt: Prompt): Promise<ApprovalAnswer> {
  const { warn, bold, dim } = styleFor(stderr);
  stderr.write(`${warn("?")} ${bold("Plan")}\n`);
  const plan = printable(use.tandem.approval?.plan ?? "There is no plan.");
  for (const line of plan.split("\n")) for (const row of wrap(line, widthOf(stderr) - 4)) stderr.write(`    ${row}\n`);
  const answer = await prompt(
    `  ${dim("y")} approve  ${dim("a")} approve and accept edits  ${dim("n")} reject  ${dim("or the changes you want:")} `,
  );
  if (/^y(es)?$/i.test(answer)) return { ...YES, mode: "default" };
  if (/^a(ccept)?$/i.test(answer)) return { ...YES, mode: "acceptEdits" };
  return no(/^(no?)?$/i.test(answer) ? "The user did not approve the plan." : answer);
}

async function askQuestions({ stderr }: Invocation, use: ToolUse, prompt: Prompt): Promise<ApprovalAnswer> {
  const { warn, bold, dim } = styleFor(stderr);
  const answers: Record<string, string | string[]> = {};
  for (const { question, options, multiSelect } of questionInput.parse(use.input).questions) {
    stderr.write(`${warn("?")} ${bold(printable(question))}\n`);
    for (const [index, { label, description }] of options.entries()) {
      stderr.write(`    ${index + 1}  ${printable(label)}${description ? dim(`  ${printable(description)}`) : ""}\n`);
    }
    const hint = multiSelect ? "numbers separated by commas, or your own answer:" : "a number, or your own answer:";
    let given = "";
    while (given === "") given = await prompt(`  ${dim(hint)} `);
    const chosen = given.split(",").map((each) => options[Number(each.trim()) - 1]?.label);
    const labels = chosen.filter((label) => label !== undefined);
    answers[question] = labels.length < chosen.length ? given : multiSelect ? labels : labels[0]!;
  }
  return { ...YES, input: { answers } };
}

const MAX_LINES = 20;

/** The details needed for a decision: the whole command, the target and content of a write. */
function details(use: ToolUse): string[] {
  const text = (key: string): string[] => {
    const value = use.input[key];
    return typeof value === "string" ? printable(value).split("\n") : [];
  };
  const marked = (mark: string, lines: readonly string[]) => lines.map((line) => `${mark} ${line}`);
  switch (use.name) {
    case "Bash":
      // Show all of it: a user must not approve hidden content.
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
  lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`] : lines;
