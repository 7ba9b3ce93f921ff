import { callStateOf, QUESTION_TOOL, type PartOf, type ToolCallState } from "@tandem/protocol";
import type { ReactNode } from "react";
import { InlineApproval, isAsked, isQuestion } from "../inline-approval.tsx";
import { useFold } from "../fold-state.tsx";
import { useSession } from "../../../state/session-context.ts";
import { describeTool, findings, shortened, type ToolWords } from "../../../tool/describe-tool.ts";
import { countLines, patchLines } from "./patch-lines.ts";
import { PatchCount } from "./patch-count.tsx";
import { ToolBody } from "./tool-body.tsx";
import { isFileChange } from "../../../tool/tool-family.ts";
import { ToolFrame } from "./tool-frame.tsx";
import { ToolState } from "./tool-state.tsx";

type ToolPart = PartOf<"tool">;

/** One tool call: a summary line, and details when opened. */
export function ToolCard({ part, isPlan = false }: { part: ToolPart; isPlan?: boolean | undefined }) {
  const call = <Call part={part} isPlan={isPlan} />;
  return isAsked(part) || isQuestion(part) ? <InlineApproval part={part} fallback={call} /> : call;
}

function Call({ part, isPlan }: { part: ToolPart; isPlan: boolean }) {
  const { folder } = useSession();
  const words = isPlan ? PLAN_FILE : describeTool(part);
  const [isOpen, toggle] = useFold(part.id, !isPlan && isOpenAtFirst(part));
  return (
    <ToolFrame
      kind={words.kind}
      verb={HAS_RUN.has(callStateOf(part)) ? words.verb : (NOT_DONE[words.verb] ?? words.verb)}
      subject={shortened(words.subject.split("\n", 1)[0]!, folder)}
      note={noteOf(part, placeIn(words.note, folder))}
      state={<ToolState part={part} />}
      isOpen={isOpen}
      onToggle={toggle}
      isLoud={isAsked(part)}
    >
      {hasBody(part) && <ToolBody part={part} kind={words.kind} />}
    </ToolFrame>
  );
}

const PLAN_FILE: ToolWords = { kind: "write", verb: "Wrote the plan", subject: "" };

/** Only a call that has run, or runs, is described in the past tense. */
const HAS_RUN: ReadonlySet<ToolCallState> = new Set(["running", "done", "failed"]);

/** Verbs for calls that had no effect, or whose effect is unknown. */
const NOT_DONE: Readonly<Record<string, string>> = {
  Ran: "Wanted to run",
  Edited: "Wanted to edit",
  Wrote: "Wanted to write",
  Read: "Wanted to read",
  Fetched: "Wanted to fetch",
};

/** Leaves out the session's own folder. */
const placeIn = (note: string | undefined, folder: string | undefined): string | undefined =>
  note === `in ${folder}` || note === "in ." ? undefined : note?.replace(`in ${folder}/`, "in ");

function noteOf(part: ToolPart, note: string | undefined): ReactNode {
  if (isFileChange(part) && HAS_RUN.has(callStateOf(part))) {
    const lines = patchLines(part);
    return <PatchCount added={countLines(lines, "+")} removed={countLines(lines, "-")} />;
  }
  const found = findings(part);
  return found === undefined ? note : [note, found].filter(Boolean).join(" · ");
}

const hasBody = (part: ToolPart): boolean =>
  part.input !== null || (part.input_preview ?? "") !== "" || "output" in part.state;

function isOpenAtFirst(part: ToolPart): boolean {
  const { name, state, preview } = part;
  if (isFileChange(part)) return true;
  switch (name) {
    case "Bash":
    case "ExitPlanMode":
    case QUESTION_TOOL:
      return !preview;
    default:
      return state.type === "error" && state.output.length > 0;
  }
}
