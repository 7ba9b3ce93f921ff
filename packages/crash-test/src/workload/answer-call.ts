import type { CallAnswer, SeenEvent } from "../operation-history.ts";
import type { EffectSink } from "../observer/effect-sink.ts";
import { isSuccess, type ApiClient, type Outcome } from "./api-client.ts";
import { callIdIn } from "../order-text.ts";

/** The decision about one call. It stays the same for repeated answers. */
export interface AnswerPlan {
  thinkUntil: number;
  isDenied: boolean;
  /** A custom tool has run. */
  hasRun?: boolean;
}

export interface AnswerSettings {
  session: string;
  clients: readonly [ApiClient, ApiClient];
  plan: AnswerPlan;
  sink: EffectSink;
  takeDoubleAnswer: () => boolean;
}

export interface GivenAnswer {
  record: CallAnswer;
  outcome: Outcome & { stored: { id: string; type: string }[] };
}

/** Answers a call that waits for a client: an approval, a custom tool, or a question about an unknown outcome. */
export async function answerCall(use: SeenEvent, settings: AnswerSettings): Promise<GivenAnswer[]> {
  const { clients, plan, sink, takeDoubleAnswer } = settings;
  if (use.type === "agent.custom_tool_use") {
    const callId = callIdIn(JSON.stringify(use.event["input"]));
    if (use.event["name"] === "ask_user_question") {
      return [await post(use, "result", await questionAnswer(use, sink), settings)];
    }
    if (callId !== undefined && !plan.hasRun) {
      plan.hasRun = true;
      await sink.record(callId);
    }
    const content = [{ type: "text", text: `Found ${callId}.` }];
    const result = { type: "user.custom_tool_result", custom_tool_use_id: use.id, content };
    return [await post(use, "result", result, settings)];
  }
  const confirm = (verdict: "allow" | "deny", client: 0 | 1): Promise<GivenAnswer> => {
    const event = { type: "user.tool_confirmation", tool_use_id: use.id, result: verdict };
    const reason = verdict === "deny" ? { deny_message: "This call is denied." } : {};
    return post(
      use,
      verdict,
      { ...event, ...reason },
      { ...settings, clients: [clients[client], clients[client]] },
      client,
    );
  };
  if (takeDoubleAnswer()) return Promise.all([confirm("allow", 0), confirm("deny", 1)]);
  return [await confirm(plan.isDenied ? "deny" : "allow", 0)];
}

async function post(
  use: SeenEvent,
  verdict: CallAnswer["verdict"],
  event: object,
  { session, clients }: AnswerSettings,
  client = 0,
): Promise<GivenAnswer> {
  const sentAt = Date.now();
  const outcome = await clients[0].send(session, event);
  const said = outcome.type === "lost" ? "lost" : isSuccess(outcome.status) ? "accepted" : "refused";
  return { record: { session, call: use.id, verdict, client: `client ${client + 1}`, sentAt, outcome: said }, outcome };
}

/** Tells the truth about a call with an unknown outcome: the sink knows whether it took effect. */
async function questionAnswer(use: SeenEvent, sink: EffectSink): Promise<object> {
  const callId = callIdIn(JSON.stringify(use.event["input"]));
  const worked = callId !== undefined && (await sink.hasEffect(callId));
  const text = worked ? "It worked" : "It failed";
  return { type: "user.custom_tool_result", custom_tool_use_id: use.id, content: [{ type: "text", text }] };
}
