import type { Part, PartOf } from "./message.ts";
import { contentParts, partId } from "./project-content.ts";
import { noticeOf } from "./project-notice.ts";
import { beginEvaluation, cutOffEvaluation, endEvaluation, outcomePart } from "./project-outcomes.ts";
import { beginSubtask, changeSubtask, exchange, priceSubtasks } from "./project-subtasks.ts";
import type { Timeline } from "./project-timeline.ts";
import {
  answerTool,
  breakOffTool,
  diagnoseTool,
  finishTool,
  moveTool,
  refuseTool,
  requestTool,
} from "./project-tools.ts";
import { beginAgent, beginRun, changeAgent, changePhase, endRun, failRun, priceAgents } from "./project-workflows.ts";
import type { EventOf, LoggedEvent } from "../events/session-event.ts";

/** Folds one event into the messages. Invisible and unknown events change nothing. */
export function foldEvent(timeline: Timeline, entry: LoggedEvent): void {
  const { event, thread } = entry;
  const { id, processed_at: at } = event;
  switch (event.type) {
    case "user.message":
      if (timeline.turn === null && thread === null) timeline.beginTurn(id);
      return timeline.beginWith("user", entry, contentParts(id, event.content, at), { delivery: { type: "taken" } });
    case "user.define_outcome":
      if (timeline.turn === null && thread === null) timeline.beginTurn(id);
      return timeline.beginWith("user", entry, [outcomePart(event, at)], { delivery: { type: "taken" } });
    case "user.interrupt":
      if (endsNothing(timeline, event)) return;
      return timeline.beginWith("user", entry, [{ type: "interruption", id, at }], { delivery: { type: "taken" } });
    case "user.tool_confirmation":
      return answerTool(timeline, entry, event);
    case "user.custom_tool_result":
      return finishTool(timeline, entry, { id: event.custom_tool_use_id, kind: "custom", ...resultOf(event) });
    case "user.tool_result":
      return finishTool(timeline, entry, { id: event.tool_use_id, kind: "builtin", ...resultOf(event) });

    case "agent.message":
      for (const part of contentParts(id, event.content, at)) timeline.addToAgent(entry, part);
      return;
    case "agent.thinking":
      if (!timeline.has(id)) timeline.addToAgent(entry, { type: "reasoning", id, at, text: "", signature: null });
      return;
    case "tandem.thinking":
      return think(timeline, entry, {
        type: "reasoning",
        id: event.thinking_id,
        at,
        text: event.text,
        signature: event.signature,
      });
    case "tandem.thinking_redacted":
      return think(timeline, entry, { type: "redacted_reasoning", id: event.thinking_id, at, data: event.data });
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use":
      return requestTool(timeline, entry, event);
    case "agent.tool_result":
      return finishTool(timeline, entry, { id: event.tool_use_id, kind: "builtin", ...resultOf(event) });
    case "agent.mcp_tool_result":
      return finishTool(timeline, entry, { id: event.mcp_tool_use_id, kind: "mcp", ...resultOf(event) });
    case "tandem.permission_denied":
      return refuseTool(timeline, entry, event);
    case "tandem.output":
      return timeline.addToAgent(entry, { type: "output", id, at, value: event.value });
    case "tandem.todo":
      return listTodos(timeline, entry, event);

    case "span.model_request_start":
      return timeline.beginWith("agent", entry, [{ ...unknownStep(id), at, model: event.tandem?.model ?? null }]);
    case "span.model_request_end":
      return finishStep(timeline, entry, event);

    case "span.outcome_evaluation_start":
      return beginEvaluation(timeline, entry, event);
    case "span.outcome_evaluation_end":
      return endEvaluation(timeline, entry, event);

    case "session.thread_created":
      return event.workflow_run_id === null
        ? beginSubtask(timeline, entry, event)
        : beginAgent(timeline, entry, event, event.workflow_run_id);
    case "session.thread_status_idle":
    case "session.thread_status_terminated":
      timeline.close(event.session_thread_id);
      changeAgent(timeline, event);
      return changeSubtask(timeline, event);
    case "session.thread_status_running":
      changeAgent(timeline, event);
      return changeSubtask(timeline, event);
    case "agent.thread_message_sent":
      return exchange(timeline, entry, {
        type: "sent",
        other: event.to_session_thread_id,
        agent: event.to_agent_name ?? null,
        content: event.content,
      });
    case "agent.thread_message_received":
      return exchange(timeline, entry, {
        type: "received",
        other: event.from_session_thread_id,
        agent: event.from_agent_name ?? null,
        content: event.content,
      });

    case "workflow_run.created":
      return beginRun(timeline, entry, event);
    case "workflow_run.phase_started":
    case "workflow_run.phase_ended":
      return changePhase(timeline, event);
    case "workflow_run.error":
      return failRun(timeline, event);
    case "workflow_run.status_ended":
      return endRun(timeline, event);

    case "agent.thread_context_compacted":
    case "tandem.compaction":
      return compact(timeline, entry, event);
    case "session.error":
    case "tandem.retry":
      return fail(timeline, entry, event);
    case "tandem.shell":
      return timeline.addBeside(entry, shellPart(event));
    case "tandem.tool_state":
      return moveTool(timeline, entry, event);
    case "tandem.diagnostics":
      return diagnoseTool(timeline, entry, event);
    case "tandem.recovered":
      for (const closed of event.closed) breakOffTool(timeline, entry, closed);
      return timeline.addBeside(entry, { type: "recovery", id, at, cause: event.cause, closed: event.closed });
    case "tandem.rewound":
      return rewind(timeline, entry, event);
    case "session.usage":
      priceAgents(timeline, event);
      return priceSubtasks(timeline, event);
    case "session.status_running":
      timeline.idle = false;
      return;
    case "session.status_idle":
      cutOffEvaluation(timeline);
      // A session in `requires_action` is still in its turn.
      return event.stop_reason.type === "requires_action" ? undefined : endTurn(timeline, entry, event);
    case "session.status_terminated":
      return timeline.endTurn();
    default: {
      const notice = noticeOf(event);
      if (notice) timeline.addBeside(entry, { type: "notice", id, at, about: event.type, ...notice });
    }
  }
}

/** Marks messages that left the agent's context. History stays. A rewind of files alone marks nothing. */
function rewind(timeline: Timeline, entry: LoggedEvent, event: EventOf<"tandem.rewound">): void {
  if (event.undoes !== undefined) timeline.undoRewind(event.undoes);
  else if (event.scope !== "files" && event.to_message_id) timeline.rewind(event.to_message_id, event.id);
  const notice = noticeOf(event);
  if (!notice) return;
  timeline.beginWith("session", entry, [
    { type: "notice", id: event.id, at: event.processed_at, about: event.type, ...notice },
  ]);
}

/** True for an interrupt that is late or targets another turn. */
function endsNothing(timeline: Timeline, { tandem }: EventOf<"user.interrupt">): boolean {
  const named = tandem?.turn_event_id;
  return timeline.idle || (named !== undefined && timeline.turn !== null && named !== timeline.turn);
}

const resultOf = ({
  content,
  is_error,
  ...event
}: EventOf<"user.custom_tool_result" | "user.tool_result" | "agent.tool_result" | "agent.mcp_tool_result">) => ({
  content: content ?? [],
  isError: is_error === true,
  ...("tandem" in event && event.tandem),
});

/** A person's command is shown like an agent's, with the person as the approver. */
function shellPart({ id, processed_at: at, command, exit_code, output }: EventOf<"tandem.shell">): PartOf<"tool"> {
  const ended = {
    started_at: null,
    ended_at: at ?? "",
    output: output === "" ? [] : [{ type: "text" as const, text: output }],
  };
  return {
    type: "tool",
    id,
    at,
    kind: "builtin",
    name: "Bash",
    input: { command },
    permission: { type: "allowed", by: "person", at },
    state: { type: exit_code === 0 ? "completed" : "error", ...ended },
  };
}

/** The thinking text replaces the marker that the model is thinking, in whichever order they arrive. */
function think(timeline: Timeline, entry: LoggedEvent, part: Part): void {
  if (timeline.has(part.id)) timeline.replace(part);
  else timeline.addToAgent(entry, part);
}

/** A message shows only the latest to-do list; the events have all its states. */
function listTodos(
  timeline: Timeline,
  entry: LoggedEvent,
  { id, processed_at: at, todos }: EventOf<"tandem.todo">,
): void {
  const before = timeline.inOpenMessage(entry.thread, "todo");
  if (before) timeline.replace({ ...before, at, todos });
  else timeline.addToAgent(entry, { type: "todo", id, at, todos });
}

function finishStep(timeline: Timeline, entry: LoggedEvent, event: EventOf<"span.model_request_end">): void {
  const before = timeline.find("step", event.model_request_start_id);
  const step: PartOf<"step"> = {
    ...(before ?? { ...unknownStep(event.model_request_start_id), at: event.processed_at }),
    state: event.is_error ? "error" : "completed",
    usage: event.model_usage,
    usd: event.tandem?.usd ?? null,
  };
  if (event.tandem?.model !== undefined) step.model = event.tandem.model;
  if (!before) return timeline.addToAgent(entry, step);
  timeline.replace({ ...step, duration_ms: Date.parse(event.processed_at ?? "") - Date.parse(before.at ?? "") || 0 });
}

const unknownStep = (id: string): PartOf<"step"> => ({
  type: "step",
  id,
  at: null,
  state: "running",
  model: null,
  usage: null,
  usd: null,
  duration_ms: null,
});

/** Anthropic's event reports the compaction, ours its size; one part shows both. */
function compact(
  timeline: Timeline,
  entry: LoggedEvent,
  event: EventOf<"agent.thread_context_compacted" | "tandem.compaction">,
): void {
  const { id, processed_at: at } = event;
  const last = timeline.lastBeside(entry.thread);
  const other = last?.type === "compaction" ? last : undefined;
  if (event.type === "agent.thread_context_compacted") {
    if (other?.trigger) return;
    return timeline.addBeside(entry, {
      type: "compaction",
      id,
      at,
      trigger: null,
      tokens_before: null,
      tokens_after: null,
    });
  }
  const counts = {
    trigger: event.trigger,
    tokens_before: event.tokens_before,
    tokens_after: event.tokens_after ?? null,
  };
  if (other && !other.trigger) timeline.replace({ ...other, ...counts });
  else timeline.addBeside(entry, { type: "compaction", id, at, ...counts });
}

function fail(timeline: Timeline, entry: LoggedEvent, event: EventOf<"session.error" | "tandem.retry">): void {
  const { id, processed_at: at } = event;
  if (event.type === "session.error" && event.error.retry_status.type !== "retrying") {
    return timeline.addBeside(entry, { type: "error", id, at, error: event.error });
  }
  const last = timeline.lastBeside(entry.thread);
  const before = last?.type === "retry" ? last : undefined;
  const retry: PartOf<"retry"> = {
    ...(before ?? { type: "retry", id, attempt: null, max_attempts: null, delay_ms: null, status: null, reason: "" }),
    at,
  };
  if (event.type === "session.error") {
    retry.error = event.error;
    retry.reason ||= event.error.message;
  } else {
    const { attempt, max_attempts, delay_ms, status, reason } = event;
    Object.assign(retry, { attempt, max_attempts, delay_ms, status, reason });
  }
  if (before) timeline.replace(retry);
  else timeline.addBeside(entry, retry);
}

function endTurn(timeline: Timeline, entry: LoggedEvent, event: EventOf<"session.status_idle">): void {
  const { id, processed_at: at, stop_reason, stop_details } = event;
  const files = timeline.changedFiles;
  if (files.length > 0) timeline.addBeside(entry, { type: "patch", id: partId(id, 1), at, files });
  if (stop_reason.type !== "end_turn" && stop_reason.type !== "requires_action") {
    const { category = null, explanation = null } = stop_details ?? {};
    timeline.addBeside(entry, { type: "stop", id, at, reason: stop_reason.type, category, explanation });
  }
  timeline.endTurn();
}
