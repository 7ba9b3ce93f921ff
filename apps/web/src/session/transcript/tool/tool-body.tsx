import type { PartOf } from "@tandem/protocol";
import { Code } from "../../../text/code.tsx";
import { Markdown } from "../../../text/markdown.tsx";
import { escapeHidden } from "../../../text/escape-hidden.ts";
import { FileBlock } from "../file-block.tsx";
import { CommandOutput } from "./command-output.tsx";
import { previewedInput, textOf, type ToolKind } from "../../../tool/describe-tool.ts";
import { patchLines } from "./patch-lines.ts";
import { PatchView } from "./patch-view.tsx";

type ToolPart = PartOf<"tool">;

/** Claude Code's result text for a command without output. */
const SILENT = "(Bash completed with no output)";

/** Input and result of a call in the form that suits the tool. */
export function ToolBody({ part, kind }: { part: ToolPart; kind: ToolKind }) {
  const { state } = part;
  const output = "output" in state ? state.output : [];
  const all = textOf(output.filter(({ type }) => type === "text" || type === "search_result"));
  const resultText = all === SILENT ? "" : all;
  const files = output.filter((block) => block.type === "image" || block.type === "document");
  const isFailed = state.type === "error";
  const refusal = part.permission?.type === "denied" ? part.permission.reason : null;
  return (
    <>
      {refusal !== null && <p className="px-3 py-1.5 text-bad">{refusal}</p>}
      <ToolInput part={part} kind={kind} />
      {part.diagnostics && <Diagnostics found={part.diagnostics} />}
      {isFailed && resultText !== "" && refusal === null && (
        <div className="bg-bad-soft text-bad">
          <CommandOutput text={resultText.replaceAll(/<\/?tool_use_error>/g, "")} />
        </div>
      )}
      {!isFailed && "output" in state && !isDescribedByInput(kind) && (kind !== "shell" || resultText !== "") && (
        <CommandOutput
          text={kind === "read" ? withoutReminder(resultText) : resultText}
          keep={kind === "shell" ? "end" : "start"}
        />
      )}
      {!isFailed && kind === "shell" && "output" in state && resultText === "" && (
        <p className="px-3 py-1.5 text-xs text-ink-faint">No output</p>
      )}
      {files.map((file, index) => (
        <div key={index} className="p-2">
          <FileBlock file={file} />
        </div>
      ))}
    </>
  );
}

function ToolInput({ part, kind }: { part: ToolPart; kind: ToolKind }) {
  const input = part.input ?? previewedInput(part.input_preview ?? "");
  switch (kind) {
    case "shell": {
      const command = typeof input["command"] === "string" ? input["command"] : "";
      return (
        <pre
          className="overflow-x-auto border-b border-line bg-raised px-3 py-1.5 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap last:border-b-0"
          tabIndex={0}
          aria-label="Command"
        >
          <span aria-hidden className="text-ink-faint select-none">
            ${" "}
          </span>
          {escapeHidden(command)}
        </pre>
      );
    }
    case "edit":
    case "write":
      return <PatchView lines={patchLines(part.input ? part : { ...part, input })} path={pathOf(input)} />;
    case "plan":
      return (
        <div className="px-3 py-2">
          <Markdown text={typeof input["plan"] === "string" ? input["plan"] : ""} />
        </div>
      );
    case "question":
      return <Questions part={part} />;
    case "read":
    case "search":
    case "web":
    case "list":
      return null;
    default:
      return Object.keys(input).length === 0 ? null : (
        <div className="p-2">
          <Code text={JSON.stringify(input, null, 2)} language="json" />
        </div>
      );
  }
}

function pathOf(input: Record<string, unknown>): string {
  const path = input["file_path"] ?? input["notebook_path"];
  return typeof path === "string" ? path : "";
}

/** Questions with their answers. */
function Questions({ part }: { part: ToolPart }) {
  const questions = (part.input?.["questions"] ?? []) as { question: string }[];
  const resultText = "output" in part.state ? textOf(part.state.output) : "";
  const answers = answersOf(resultText);
  return (
    <dl className="space-y-1.5 px-3 py-2">
      {questions.map(({ question }) => (
        <div key={question}>
          <dt className="text-ink-soft">{question}</dt>
          <dd className="font-medium">{[answers?.[question] ?? []].flat().join(", ") || resultText}</dd>
        </div>
      ))}
    </dl>
  );
}

function answersOf(text: string): Record<string, string | string[]> | undefined {
  try {
    return (JSON.parse(text) as { answers?: Record<string, string | string[]> } | null)?.answers;
  } catch {
    return undefined;
  }
}

/** The result of these tools only confirms success, so the input is shown. */
const isDescribedByInput = (kind: ToolKind): boolean =>
  kind === "edit" || kind === "write" || kind === "plan" || kind === "list" || kind === "question";

/** Claude Code appends reminders to files that are meant for the model only. */
const withoutReminder = (text: string): string =>
  text.replace(/\n*<system-reminder>[\s\S]*<\/system-reminder>\s*$/, "");

/** Errors that an edit added, as a language server reports them. */
function Diagnostics({ found }: { found: NonNullable<PartOf<"tool">["diagnostics"]> }) {
  const { items, total, server } = found;
  return (
    <section className="border-t border-line bg-bad-soft px-3 py-1.5 text-xs" aria-label="New errors">
      <p className="text-bad">
        {total === 1 ? "1 new error" : `${total} new errors`} <span className="text-ink-soft">({server})</span>
      </p>
      <ul className="mt-1 space-y-1">
        {items.map(({ path, line, column, message, code, source }, index) => (
          <li key={index} className="wrap-anywhere">
            <span className="font-mono text-ink-soft">
              {escapeHidden(path)}:{line}:{column}
            </span>{" "}
            <span className="whitespace-pre-wrap">{escapeHidden(message)}</span>{" "}
            <span className="text-ink-soft">{[source, code].filter(Boolean).join(" ")}</span>
          </li>
        ))}
      </ul>
      {total > items.length && <p className="mt-1 text-ink-soft">{total - items.length} more</p>}
    </section>
  );
}
