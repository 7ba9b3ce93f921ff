import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from "@opentelemetry/api";
import { redactText, redactValue, type LoggedEvent, type SessionEvent, type SessionId } from "@tandem/protocol";
import { readTraceparent } from "./traceparent.ts";

/** OpenTelemetry's semantic conventions for generative AI; its stable package does not export them yet. */
const GEN_AI = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  conversation: "gen_ai.conversation.id",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  responseModel: "gen_ai.response.model",
  responseId: "gen_ai.response.id",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cacheRead: "gen_ai.usage.cache_read.input_tokens",
  cacheWrite: "gen_ai.usage.cache_creation.input_tokens",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
} as const;

type AgentOf = () => Promise<{ id: string; name: string }>;

interface OpenTurn {
  span: Span;
  /** Open requests and calls, by the id of the event that started them. */
  children: Map<string, Span>;
  /** The turn ended; the next message starts another one. */
  isOver: boolean;
}

/**
 * Creates spans for sessions from their logs: turns, model requests, tool calls. Names, ids, counts and times only,
 * never content.
 */
export class SessionTracer {
  readonly #tracer: Tracer;
  readonly #turns = new Map<SessionId, OpenTurn>();
  /** Trace contexts of messages whose turn has not started. */
  readonly #callers = new Map<SessionId, string>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** `agent` is called when a turn starts; its result may arrive late, because nothing waits for it. */
  note(session: SessionId, events: readonly LoggedEvent[], agent: AgentOf): void {
    for (const { event } of events) this.#note(session, event, agent);
  }

  #note(session: SessionId, event: SessionEvent, agent: AgentOf): void {
    const at = new Date(event.processed_at ?? Date.now());
    const turn = this.#turns.get(session);
    switch (event.type) {
      case "user.message": {
        const caller = event.tandem?.traceparent;
        if (caller !== undefined) this.#callers.set(session, caller);
        if (turn && !turn.isOver) return this.#joined(session, turn);
        if (turn) this.#end(session, at);
        if (turn) this.#begin(session, at, agent);
        return;
      }
      case "session.usage":
        if (turn) turn.isOver = true;
        return;
      case "session.status_running":
        if (!turn) this.#begin(session, at, agent);
        return;
      case "session.status_idle":
        if (event.stop_reason.type === "requires_action") turn?.span.addEvent("requires_action", {}, at);
        else this.#end(session, at);
        return;
      case "session.status_terminated":
      case "session.deleted":
        return this.#end(session, at);
      case "session.error":
        turn?.span.setStatus({ code: SpanStatusCode.ERROR, message: event.error.type });
        return;
      case "span.model_request_start":
        return this.#beginChild(turn, event.id, "chat", SpanKind.CLIENT, at, { [GEN_AI.operation]: "chat" });
      case "span.model_request_end": {
        const span = turn?.children.get(event.model_request_start_id);
        const { model, message_id: message } = event.tandem;
        if (model) span?.updateName(`chat ${model}`).setAttribute(GEN_AI.responseModel, model);
        if (message) span?.setAttribute(GEN_AI.responseId, message);
        span?.setAttributes({
          [GEN_AI.inputTokens]: event.model_usage.input_tokens,
          [GEN_AI.outputTokens]: event.model_usage.output_tokens,
          [GEN_AI.cacheRead]: event.model_usage.cache_read_input_tokens,
          [GEN_AI.cacheWrite]: event.model_usage.cache_creation_input_tokens,
        });
        return endChild(turn, event.model_request_start_id, at, event.is_error === true);
      }
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        return this.#beginChild(turn, event.id, `execute_tool ${event.name}`, SpanKind.INTERNAL, at, {
          [GEN_AI.operation]: "execute_tool",
          [GEN_AI.toolName]: event.name,
          [GEN_AI.toolCallId]: event.tandem.tool_use_id,
          [GEN_AI.toolType]: event.type === "agent.tool_use" ? "function" : "extension",
        });
      case "agent.tool_result":
        return endChild(turn, event.tool_use_id, at, event.is_error === true);
      case "agent.mcp_tool_result":
        return endChild(turn, event.mcp_tool_use_id, at, event.is_error === true);
      case "user.custom_tool_result":
        return endChild(turn, event.custom_tool_use_id, at, event.is_error === true);
      default:
    }
  }

  /** A message that steers a turn belongs to that turn, whatever trace it arrived with. */
  #joined(session: SessionId, turn: OpenTurn): void {
    const caller = readTraceparent(this.#callers.get(session));
    this.#callers.delete(session);
    if (caller) turn.span.addLink({ context: caller });
  }

  #begin(session: SessionId, at: Date, agent: AgentOf): void {
    const caller = readTraceparent(this.#callers.get(session));
    this.#callers.delete(session);
    const span = this.#tracer.startSpan(
      "invoke_agent",
      {
        kind: SpanKind.INTERNAL,
        startTime: at,
        attributes: {
          [GEN_AI.operation]: "invoke_agent",
          [GEN_AI.provider]: "anthropic",
          [GEN_AI.conversation]: session,
        },
      },
      caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
    );
    this.#turns.set(session, { span, children: new Map(), isOver: false });
    agent().then(
      ({ id, name }) =>
        span
          .updateName(`invoke_agent ${redactText(name)}`)
          .setAttributes({ [GEN_AI.agentId]: id, [GEN_AI.agentName]: redactText(name) }),
      // A span without the agent's name is better than none.
      () => undefined,
    );
  }

  #end(session: SessionId, at: Date): void {
    const turn = this.#turns.get(session);
    this.#turns.delete(session);
    for (const child of turn?.children.values() ?? []) child.end(at);
    turn?.span.end(at);
  }

  #beginChild(
    turn: OpenTurn | undefined,
    id: string,
    name: string,
    kind: SpanKind,
    at: Date,
    attributes: Record<string, string>,
  ): void {
    if (!turn) return;
    const parent = trace.setSpan(context.active(), turn.span);
    // A model may invent a tool whose name is a credential.
    const options = { kind, startTime: at, attributes: redactValue(attributes) };
    turn.children.set(id, this.#tracer.startSpan(redactText(name), options, parent));
  }
}

function endChild(turn: OpenTurn | undefined, id: string, at: Date, failed: boolean): void {
  const span = turn?.children.get(id);
  turn?.children.delete(id);
  if (failed) span?.setStatus({ code: SpanStatusCode.ERROR });
  span?.end(at);
}
