import { evaluationText, processWaitText, type Delta, type EventOf, type SessionEvent } from "@tandem/protocol";
import { countdown } from "../progress.ts";
import { printable, styleFor, type Style, widthOf } from "../terminal.ts";
import { describeCall, isToolUse, toolName, type ToolUse } from "../sessions/describe-call.ts";
import { StatusLine } from "./status-line.ts";
import type { TurnView } from "./turn-view.ts";

/**
 * Shows a turn: the agent's text as it streams, and a line for each action. Text goes to `words` if that is a terminal,
 * everything else to `notes`.
 */
export class LiveView implements TurnView {
  readonly #words: NodeJS.WriteStream | undefined;
  readonly #notes: NodeJS.WriteStream;
  readonly #style: Style;
  readonly #status: StatusLine;
  readonly #uses = new Map<string, ToolUse>();
  /** Characters of an event's text already printed from previews. */
  readonly #shown = new Map<string, number>();
  /** Characters received since the preview last started. It restarts after a broken stream. */
  readonly #heard = new Map<string, number>();
  #folder: string | undefined;
  #midLine = false;
  #spoke = false;

  constructor(words: NodeJS.WriteStream | undefined, notes: NodeJS.WriteStream) {
    this.#words = words;
    this.#notes = notes;
    this.#style = styleFor(notes);
    this.#status = new StatusLine(notes);
    this.#status.show("Starting …");
  }

  delta(delta: Delta): void {
    if (delta.type === "event_start") this.#heard.set(delta.event.id, 0);
    if (delta.type === "event_delta") this.#say(delta.event_id, delta.delta.content.text, true);
    else if (delta.type === "event_start" && delta.event.type === "agent.thinking") this.#status.show("Thinking …");
    else if (delta.type === "tandem.tool_input_start") this.#wait(`Preparing ${printable(delta.name)} …`);
  }

  event(event: SessionEvent): void {
    if (isToolUse(event)) return this.#use(event);
    switch (event.type) {
      case "tandem.init":
        this.#folder = event.folder;
        return;
      case "span.model_request_start":
        return this.#wait("Thinking …");
      case "agent.message":
        this.#say(event.id, event.content.map(({ text }) => text).join(""), false);
        return this.#endLine();
      case "agent.tool_result":
        return this.#result(this.#uses.get(event.tool_use_id), event);
      case "agent.mcp_tool_result":
        return this.#result(this.#uses.get(event.mcp_tool_use_id), event);
      case "tandem.todo":
        return this.#todo(event);
      case "tandem.retry": {
        const wait = event.delay_ms > 0 ? ` in ${countdown(event.delay_ms)}` : "";
        return this.#note(
          this.#style.warn("↻"),
          `${event.reason}: retrying${wait} (${event.attempt} of ${event.max_attempts})`,
        );
      }
      case "tandem.model_fallback":
        return this.#note(this.#style.warn("!"), `Using ${event.to} instead of ${event.from}: ${event.reason}`);
      case "tandem.compaction":
        return this.#note(this.#style.dim("↧"), "The conversation was compacted.");
      case "tandem.dropped":
        return this.#note(this.#style.warn("!"), `A message was not sent to the agent: ${event.reason}`);
      case "tandem.parked": {
        const left = countdown(Math.max(0, Date.parse(event.resets_at) - Date.now()));
        this.#note(
          this.#style.warn("⏸"),
          `Quota exhausted (${event.kind.replaceAll("_", " ")}); it resets in ${left}.`,
        );
        return this.#wait(`Waiting until ${new Date(event.resets_at).toLocaleTimeString()} …`);
      }
      case "span.outcome_evaluation_start":
        return this.#wait(`Evaluating the outcome (${event.iteration + 1}) …`);
      case "span.outcome_evaluation_end": {
        const mark = event.result === "satisfied" ? this.#style.good("✓") : this.#style.warn("✗");
        return this.#note(mark, printable(evaluationText({ ...event, state: event.result })));
      }
      case "tandem.process_wait":
        return this.#wait(`${processWaitText(event)} …`);
      case "tandem.sandbox_violation":
        this.#note(this.#style.warn("⛔"), printable(event.rule));
        return this.#note(" ", this.#style.dim(printable(event.fix)));
      case "tandem.diagnostics":
        for (const { path, line, column, message } of event.diagnostics) {
          this.#note(this.#style.warn("!"), printable(`${path}:${line}:${column} ${message}`));
        }
        return;
      case "tandem.notice":
        return this.#note(this.#style[event.level === "info" ? "dim" : "warn"]("!"), event.text);
      case "session.thread_created":
        return this.#note(this.#style.accent("◇"), `${printable(event.agent_name)} begins`);
      default:
    }
  }

  pause(): void {
    this.#endLine();
    this.#status.hide();
  }

  [Symbol.dispose](): void {
    this.pause();
  }

  #say(id: string, text: string, isDelta: boolean): void {
    const shown = this.#shown.get(id) ?? 0;
    const heard = isDelta ? (this.#heard.get(id) ?? shown) : 0;
    const fresh = text.slice(Math.max(0, shown - heard));
    this.#heard.set(id, heard + text.length);
    this.#shown.set(id, Math.max(shown, heard + text.length));
    if (!this.#words) return isDelta ? this.#status.show("Answering …") : undefined;
    if (fresh === "") return;
    this.#status.hide();
    if (!this.#midLine && this.#spoke) this.#words.write("\n");
    this.#words.write(printable(fresh));
    this.#midLine = true;
    this.#spoke = true;
  }

  #use(use: ToolUse): void {
    this.#uses.set(use.id, use);
    const what = describeCall(use, this.#folder);
    const line = `${this.#style.bold(printable(toolName(use)))}  ${what}`;
    this.#note(this.#style.accent("●"), line);
    this.#wait(`${toolName(use)}  ${what}`);
  }

  #result(use: ToolUse | undefined, result: EventOf<"agent.tool_result" | "agent.mcp_tool_result">): void {
    this.#wait("Thinking …");
    if (!result.is_error) return;
    const text = (result.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");
    const [first = "failed"] = printable(text).trim().split("\n");
    this.#note(`  ${this.#style.bad("✗")}`, `${use ? `${toolName(use)}: ` : ""}${first}`);
  }

  #todo({ todos }: EventOf<"tandem.todo">): void {
    const done = todos.filter(({ status }) => status === "completed").length;
    const current = todos.find(({ status }) => status === "in_progress");
    const what = current ? (current.active_form ?? current.content) : done === todos.length ? "all done" : "";
    this.#note(this.#style.dim("☰"), this.#style.dim(printable(`${done} of ${todos.length}  ${what}`)));
  }

  #note(mark: string, text: string): void {
    this.#endLine();
    this.#status.hide();
    const room = widthOf(this.#notes) - 6;
    const line = text.length > room + 20 ? `${text.slice(0, room + 10)}…` : text;
    this.#notes.write(`${mark} ${line}\n`);
    this.#spoke = this.#words !== undefined;
  }

  /** Only at the start of a line, because it would overwrite streamed text. */
  #wait(what: string): void {
    if (!this.#midLine) this.#status.show(what);
  }

  #endLine(): void {
    if (this.#midLine) this.#words?.write("\n");
    this.#midLine = false;
  }
}
