import { randomUUID } from "node:crypto";
import type { Conversation, ConversationHost, ConversationSetup, TranscriptStore, TurnEnd } from "@tandem/claude-code";
import { LlmError, newId, type LlmErrorCode } from "@tandem/protocol";
import type { SessionRules } from "@tandem/policy";
import { z } from "zod";
import { errorDetail } from "../log/error-detail.ts";
import { openSandbox } from "../process/open-sandbox.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { turnOptions } from "../process/turn-options.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { GraderUnavailable, type Grade, type GradeOutcome, type GradingControl, type GradingTask } from "./grader.ts";
import { GRADER_SYSTEM, gradingPrompt, type Evidence } from "./grading-prompt.ts";

const ATTEMPTS = 2;
const DEADLINE_MS = 10 * 60 * 1_000;
/** Model requests of one evaluation. */
const MAX_STEPS = 50;

/** None of them writes or runs anything. */
const READING_TOOLS = ["Read", "Glob", "Grep"];

/** The explanation comes first, so that the model argues before it decides. */
const verdict = z.strictObject({
  explanation: z.string().min(1).describe("Each criterion of the rubric: met or not, and the evidence."),
  result: z
    .enum(["satisfied", "needs_revision", "failed"])
    .describe(
      "satisfied: every criterion is met. needs_revision: at least one is not. failed: the rubric does not apply to this outcome at all.",
    ),
});

/** Errors of the grader itself. All others mean that no model is available now. */
const CRASHES: ReadonlySet<string> = new Set<LlmErrorCode>([
  "empty_answer",
  "max_tokens",
  "process_died",
  "prompt_too_long",
  "refused",
  "structured_output",
  "timeout",
]);

interface ModelGraderDependencies {
  settings: ProcessSettings;
  rules: Pick<Rules, "rulesOf">;
  evidenceOf: (task: GradingTask) => Promise<Evidence>;
}

/**
 * Evaluates an outcome with a second Claude Code conversation in the session's folder: without its history, instructions,
 * hooks, MCP servers and skills, and with tools that only read.
 */
export function createModelGrader(dependencies: ModelGraderDependencies): GradeOutcome {
  return async (task, control) => {
    const { settings, rules, evidenceOf } = dependencies;
    const { row } = task;
    const sessionRules = await rules.rulesOf({ id: row.id, agentId: row.agent.id, folder: row.folder });
    const prompt = gradingPrompt(task.outcome, await evidenceOf(task), row.folder);
    const reported: Grade["reported"] = {};
    let problem = "";
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const end = await evaluate(task, prompt, { settings, sessionRules, control });
      for (const [model, used] of Object.entries(end.reported)) reported[model] = sum(reported[model], used);
      const answer = verdict.safeParse(end.output);
      if (end.stop === "end_turn" && answer.success) return { ...answer.data, reported };
      problem = problemOf(end);
    }
    const explanation = `The grader failed ${ATTEMPTS} times, so the outcome was not evaluated: ${problem}`;
    return { result: "failed", explanation, reported };
  };
}

/** Throws if no model can be asked. */
function problemOf(end: TurnEnd): string {
  const { error } = end;
  if (error && end.stop === "error" && !CRASHES.has(error.tandem?.code ?? "")) throw new GraderUnavailable(error);
  if (end.stop === "refusal") return "The model declined to answer.";
  return error?.message ?? "It gave no verdict.";
}

/** One evaluation, in a sandbox of its own if sessions have one. */
async function evaluate(task: GradingTask, prompt: string, around: Evaluation): Promise<TurnEnd> {
  const id = randomUUID();
  const { sandbox, opened } = await openSandbox(task.row, around.settings, {
    write: () => {},
    besides: `grader-${id}`,
  });
  await using _ = opened;
  // Awaited here: the sandbox closes when the function returns.
  return await converse({ ...(await setupOf(task, around.settings)), id, sandbox }, prompt, around);
}

async function setupOf({ row }: GradingTask, settings: ProcessSettings): Promise<Omit<ConversationSetup, "id">> {
  const { model, effort } = turnOptions(row, settings);
  return {
    executable: settings.executable,
    credential: await settings.credential(),
    hostVariables: settings.hostVariables,
    stateFolder: settings.stateFolder,
    folder: row.folder,
    model,
    ...(effort !== undefined && { effort }),
    system: GRADER_SYSTEM,
    replaceSystem: true,
    ignoresInstructions: true,
    tools: READING_TOOLS,
    customTools: [],
    mcpServers: [],
    subagents: [],
    outputSchema: z.toJSONSchema(verdict, { target: "draft-7" }),
    maxTurns: MAX_STEPS,
    resume: false,
    primaryThread: newId("thread"),
    yields: settings.fleet !== undefined,
    deadlines: settings.deadlines,
  };
}

interface Evaluation {
  settings: ProcessSettings;
  sessionRules: SessionRules;
  control: GradingControl;
}

/** Runs one evaluation up to its end. A failed process is a failed turn. Rejects only if it was cancelled. */
async function converse(
  setup: ConversationSetup,
  prompt: string,
  { settings, sessionRules, control }: Evaluation,
): Promise<TurnEnd> {
  const { signal } = control;
  signal.throwIfAborted();
  const slot = await settings.processes?.slots.take({ owner: settings.processes.owner, signal });
  const ended = Promise.withResolvers<TurnEnd>();
  // It may reject before it is awaited, or after the conversation has failed.
  ended.promise.catch(() => undefined);
  const stop = (): void => ended.reject(signal.reason);
  const tooLong = new LlmError("timeout", `The evaluation took longer than ${DEADLINE_MS / 60_000} minutes.`);
  const cancel = settings.clock.after(DEADLINE_MS, () => ended.resolve(failure(tooLong)));
  signal.addEventListener("abort", stop, { once: true });
  let conversation: Conversation | undefined;
  try {
    conversation = settings.openConversation(setup, hostOf(sessionRules, control, ended), noTranscripts());
    control.onProcess(conversation);
    // A cancelled evaluation ends its process at once, also one that is suspended while it starts.
    await Promise.race([conversation.ready, ended.promise]);
    conversation.send({ uuid: randomUUID(), content: [{ type: "text", text: prompt }] });
    return await ended.promise;
  } catch (error) {
    if (signal.aborted) throw error;
    return failure(error);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
    await conversation?.close("lost");
    slot?.free();
    const { forgetConversation } = await import("@tandem/claude-code");
    await forgetConversation(setup, setup.id);
  }
}

function hostOf(
  sessionRules: SessionRules,
  { onRequestStart, onRequestEnd, onToolUse }: GradingControl,
  ended: PromiseWithResolvers<TurnEnd>,
): ConversationHost {
  return {
    // No person is asked: a call that needs approval is denied.
    decide: (call) => {
      const ruled = sessionRules.judge(call);
      const isAllowed = READING_TOOLS.includes(call.name) && (ruled === undefined || ruled.action === "allow");
      return { permission: isAllowed ? "allow" : "deny", ...(ruled && { verdict: ruled }) };
    },
    confirm: async () => ({ allow: false, message: "This call is not allowed." }),
    callCustomTool: async () => ({ content: [{ type: "text", text: "There is no such tool." }], isError: true }),
    onOutput: (output) => {
      if (output.type === "turn_ended") ended.resolve(output.outcome);
      if (output.type === "closed") {
        ended.resolve(failure(output.error ?? new LlmError("process_died", "Claude Code ended.")));
      }
      if (output.type !== "event") return;
      const { event } = output;
      if (event.type === "span.model_request_start") onRequestStart();
      if (event.type === "span.model_request_end") onRequestEnd(event);
      if (event.type === "agent.tool_use") onToolUse();
    },
  };
}

const failure = (error: unknown): TurnEnd => ({
  stop: "error",
  stopDetails: null,
  error: errorDetail(error),
  reported: {},
});

/** A grader's conversation is never resumed. */
const noTranscripts = (): TranscriptStore => ({
  append: async () => undefined,
  load: async () => [],
  subpaths: async () => [],
});

type Reported = Grade["reported"][string];

const sum = (a: Reported | undefined, b: Reported): Reported => ({
  input_tokens: (a?.input_tokens ?? 0) + b.input_tokens,
  output_tokens: (a?.output_tokens ?? 0) + b.output_tokens,
  cache_read_input_tokens: (a?.cache_read_input_tokens ?? 0) + b.cache_read_input_tokens,
  cache_creation_input_tokens: (a?.cache_creation_input_tokens ?? 0) + b.cache_creation_input_tokens,
  usd: (a?.usd ?? 0) + b.usd,
});
