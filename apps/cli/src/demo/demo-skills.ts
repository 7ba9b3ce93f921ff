import { isAbsolute, join } from "node:path";
import { reply, text, toolUse, type MessageReply } from "@tandem/rehearsal";
import type { DemoTurn, Step } from "./demo-turn.ts";

const MAX_NAMES = 8;
const MAX_SHOWN = 600;
const FILE = /[\w./-]*[\w-]\.\w{1,8}\b/;

/** A request that the scripted model carries out. */
interface Skill {
  /** An example, as a person would ask. */
  example: string;
  isPossible(turn: DemoTurn): boolean;
  /** Called only if it is possible. */
  isAsked(turn: DemoTurn): boolean;
  play(turn: DemoTurn): MessageReply;
}

const lastOf = ({ steps }: DemoTurn): Step | undefined => steps.at(-1);
const pathOf = ({ folder }: DemoTurn, file: string): string =>
  isAbsolute(file) || folder === undefined ? file : join(folder, file);
const shown = (words: string): string =>
  words.length > MAX_SHOWN ? `${words.slice(0, MAX_SHOWN).trimEnd()} …` : words.trim();

/** Ends a turn after a call that was denied or failed. */
const stopped = ({ result }: Step): MessageReply => text(`That did not go through, so I stop here: ${shown(result)}`);

const listFolder: Skill = {
  example: "What is in this folder?",
  isPossible: (turn) => turn.offers("Glob"),
  isAsked: (turn) => /\b(folder|directory|files?|list|ls)\b/i.test(turn.ask),
  play(turn) {
    const last = lastOf(turn);
    if (!last) return reply([text("I will list the files in this folder."), toolUse("Glob", { pattern: "*" })]);
    return last.isError ? stopped(last) : text(listing(last.result));
  },
};

function listing(result: string): string {
  const names = new Set(
    result
      .split("\n")
      .filter((line) => line.trim() !== "" && line !== "No files found" && !line.startsWith("("))
      .map((line) => line.replace(/^\.\//, "").split("/")[0]!)
      .filter((name) => name !== ".git" && name !== "node_modules"),
  );
  if (names.size === 0) return "There is nothing in it yet.";
  const sorted = [...names].toSorted();
  const more = sorted.length > MAX_NAMES ? ` and ${sorted.length - MAX_NAMES} more` : "";
  return `I see ${sorted.slice(0, MAX_NAMES).join(", ")}${more}.`;
}

const writeFile: Skill = {
  example: "Write hello.txt with the word hello in it.",
  isPossible: (turn) => turn.offers("Write"),
  isAsked: (turn) => /\b(write|create|make|add|save)\b/i.test(turn.ask) && FILE.test(turn.ask),
  play(turn) {
    const file = FILE.exec(turn.ask)![0];
    const path = pathOf(turn, file);
    const last = lastOf(turn);
    const write = toolUse("Write", { file_path: path, content: `${contentOf(turn.ask, file)}\n` });
    if (!last)
      return reply([text(`I will write ${file}. This changes your folder, so it needs your approval.`), write]);
    if (last.tool === "Read") return last.isError ? stopped(last) : write;
    // Claude Code overwrites only files that the model has read.
    if (last.isError && /not been read/i.test(last.result)) return toolUse("Read", { file_path: path });
    return last.isError ? stopped(last) : text(`I wrote ${file}. See it under Changes; a rewind undoes it.`);
  },
};

function contentOf(ask: string, file: string): string {
  const rest = ask.slice(ask.indexOf(file) + file.length);
  const quoted = /["“`]([^"”`]+)["”`]/.exec(rest)?.[1];
  const named =
    /(?:with|containing|saying|that says)\s+(?:the\s+)?(?:words?\s+|text\s+)?(.+?)(?:\s+in it)?\s*[.!]*\s*$/i;
  return quoted ?? named.exec(rest)?.[1] ?? "Written by the demo agent.";
}

const editFile: Skill = {
  example: 'Replace "hello" with "goodbye" in hello.txt.',
  isPossible: (turn) => turn.offers("Edit"),
  isAsked: (turn) => /\b(edit|change|replace|update)\b/i.test(turn.ask) && FILE.test(turn.ask),
  play(turn) {
    const file = (/\bin\s+(\S+\.\w+)/i.exec(turn.ask)?.[1] ?? FILE.exec(turn.ask)![0]).replace(/[.,!?]+$/, "");
    const path = pathOf(turn, file);
    const last = lastOf(turn);
    if (!last) return reply([text(`I read ${file} first.`), toolUse("Read", { file_path: path })]);
    if (last.isError) return stopped(last);
    if (last.tool !== "Read") return text(`I changed ${file}. Changes shows the difference, and a rewind undoes it.`);
    const [before, after] = replacement(turn.ask, last.result);
    if (before === undefined) return text(`${file} is empty, so there is nothing to change.`);
    return toolUse("Edit", { file_path: path, old_string: before, new_string: after });
  },
};

/** The named replacement, or a remark after the first line of the file. */
function replacement(ask: string, content: string): [before: string | undefined, after: string] {
  const named =
    /(?:replace|change)\s+["“`]?(.+?)["”`]?\s+(?:with|by|to)\s+["“`]?(.+?)["”`]?\s+in\s/i.exec(ask)?.slice(1) ?? [];
  if (named[0] !== undefined && named[1] !== undefined) return [named[0], named[1]];
  const first = /^\s*\d+[→\t](.*\S.*)$/m.exec(content)?.[1];
  return [first, `${first} (changed by the demo agent)`];
}

const runCommand: Skill = {
  example: "Run `git status`.",
  isPossible: (turn) => turn.offers("Bash"),
  isAsked: (turn) => /\b(run|execute|bash|shell|command)\b/i.test(turn.ask),
  play(turn) {
    const last = lastOf(turn);
    if (last) return last.isError ? stopped(last) : text(`It printed: ${shown(last.result) || "nothing"}`);
    const command = /`([^`]+)`/.exec(turn.ask)?.[1] ?? "echo Hello from the demo agent";
    return reply([
      text("The command runs on this machine, so it needs your approval unless a rule allows it."),
      toolUse("Bash", { command, description: "Run what was asked for" }),
    ]);
  },
};

const askQuestion: Skill = {
  example: "Ask me a question.",
  isPossible: (turn) => turn.offers("AskUserQuestion"),
  isAsked: (turn) => /\bask me\b|\ba question\b/i.test(turn.ask),
  play(turn) {
    const last = lastOf(turn);
    if (last) return last.isError ? stopped(last) : text(`Thank you. ${shown(last.result)}`);
    const options = [
      { label: "Write a file", description: "You approve it, see the difference and can rewind it." },
      { label: "Run a command", description: "You approve it and see the output." },
    ];
    const question = { question: "What should I show you next?", header: "Next", multiSelect: false, options };
    return toolUse("AskUserQuestion", { questions: [question] });
  },
};

const askContext: Skill = {
  example: "What does the context say about orders?",
  isPossible: (turn) => turn.searchTool !== undefined,
  isAsked: (turn) => /\b(context|tables?|joins?|wiki|database)\b/i.test(turn.ask),
  play(turn) {
    const last = lastOf(turn);
    if (last)
      return last.isError ? stopped(last) : text(`I found this in the context:\n\n${shown(unquoted(last.result))}`);
    return reply([text("I will search the context."), toolUse(turn.searchTool!, { query: searchWords(turn.ask) })]);
  },
};

/** The answer without the element that quotes it for a model. */
const unquoted = (result: string): string => result.replaceAll(/^<\/?result-\w+>$/gm, "");

/** The subject of a request: "Search the context for refunds" asks about refunds. */
const searchWords = (ask: string): string =>
  /\b(?:for|about|on|of)\s+(.+?)[.?!]*$/i.exec(ask.trim())?.[1] ?? ask.trim();

const PLAN = "# Plan\n\n1. Write `hello.txt` with a greeting.\n2. Show the difference.\n";

const makePlan: Skill = {
  example: "Make a plan.",
  isPossible: () => true,
  isAsked: (turn) => turn.planFile !== undefined || /\bplan\b/i.test(turn.ask),
  play(turn) {
    const last = lastOf(turn);
    if (turn.planFile === undefined) {
      if (!last && turn.offers("EnterPlanMode")) return toolUse("EnterPlanMode", {});
      return last?.isError ? stopped(last) : text(`${PLAN}\nIn the mode "Plan", I ask you to approve it first.`);
    }
    if (last?.isError) return stopped(last);
    const tools = new Set(turn.steps.map(({ tool }) => tool));
    if (!tools.has("ExitPlanMode")) {
      return tools.has("Write")
        ? toolUse("ExitPlanMode", {})
        : reply([text("I write a plan first."), toolUse("Write", { file_path: turn.planFile, content: PLAN })]);
    }
    return last?.tool === "Write"
      ? text("I wrote hello.txt, as planned.")
      : toolUse("Write", { file_path: pathOf(turn, "hello.txt"), content: "Hello.\n" });
  },
};

/** The first that is asked for plays. */
const BY_URGENCY: readonly Skill[] = [askQuestion, makePlan, askContext, runCommand, editFile, writeFile, listFolder];
/** In the order in which a newcomer would try them. */
const BY_INTEREST: readonly Skill[] = [listFolder, writeFile, editFile, runCommand, askQuestion, makePlan, askContext];

/** The next step of the scripted model. For an unknown request it lists the known ones. */
export function playSkill(turn: DemoTurn): MessageReply {
  const skill = BY_URGENCY.find((skill) => skill.isPossible(turn) && skill.isAsked(turn));
  if (skill) return skill.play(turn);
  const examples = BY_INTEREST.filter((skill) => skill.isPossible(turn)).map(({ example }) => `- ${example}`);
  return text(`I am a scripted demo, and this is not in my script. Try one of these:\n\n${examples.join("\n")}`);
}
