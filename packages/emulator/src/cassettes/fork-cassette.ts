import {
  findDivergence,
  resultChecksum,
  TandemError,
  type Cassette,
  type CassetteBlock,
  type CassetteStep,
  type MessagesProxy,
  type ReplayMode,
  type Rule,
} from "@tandem/protocol";
import { loadScript, type Script, raw, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { z } from "zod";
import { replayCassette } from "./replay-cassette.ts";

/** The difference of another run in one step. */
export interface ForkChange {
  /** The number of the step. */
  step: number;
  /** The text of a message. */
  prompt?: string | undefined;
  /** The model of a message and the answers after it. */
  model?: string | undefined;
  /** The result of a call. */
  result?: string | undefined;
  /** The answer to an approval; the step is the answer or its call. */
  approval?: "allow" | "deny" | undefined;
  /** A rule that the session begins with. It must not change a step before this one. */
  rule?: Rule | undefined;
}

export interface ForkOptions {
  /** Default: `recorded`. */
  mode?: ReplayMode;
  /** The model's answers after the step, or the path of their file. Default: the recorded ones, as far as they fit. */
  script?: Script | string;
  /** A real model answers after the step. It needs real tools. */
  live?: MessagesProxy | undefined;
  signal?: AbortSignal;
}

/** Runs a recorded session again with one step changed. Returns the new run as a cassette. */
export async function forkCassette(
  recorded: Cassette,
  change: ForkChange,
  { mode = "recorded", script: given, live, signal }: ForkOptions = {},
): Promise<Cassette> {
  if (live && mode === "recorded") {
    throw refused("A live model needs real tools: recorded ones have no result for other calls.", "Add --real-tools.");
  }
  if (live && given !== undefined)
    throw refused("Either a script or a live model answers.", "Leave out --script or --live.");
  if (mode === "real_tools" && change.result !== undefined) {
    throw refused("The result of a real tool cannot be replaced.", "Leave out --real-tools or --result.");
  }
  const script = live ? liveScript(live, signal) : typeof given === "string" ? await loadScript(given) : given;
  const changed = changeStep(recorded.steps, change, script !== undefined);
  const steps = script ? changed.slice(0, endOfRound(changed, change.step)) : changed;
  const { rule } = change;
  const rules = [...recorded.header.rules, ...(rule ? [{ ...rule, scope: "session" as const, source: "fork" }] : [])];
  const { run } = await replayCassette(
    { ...recorded, header: { ...recorded.header, rules }, steps, events: [] },
    { mode, pastDivergence: true, ...(script && { script }), ...(signal && { signal }) },
  );
  if (!run) throw new Error("A fork without events was compared with events.");
  const first = rule && findDivergence(steps.map(withoutVerdict), run.steps.map(withoutVerdict), { mode });
  // An approval comes before its call, in the round of the same answer.
  if (first && first.step < startOfRound(steps, change.step)) {
    throw refused(
      `The rule changes step ${first.step}, before step ${change.step}.`,
      `Give --step ${first.step}, or a narrower rule.`,
    );
  }
  if (mode === "real_tools") return run;
  const reason = "Recorded tools change no files; a fork with real tools has the folder.";
  return { ...run, folder: { type: "left_out", reason } };
}

/** A rule may be the reason for a decision that stays the same. */
const withoutVerdict = (step: CassetteStep): CassetteStep =>
  step.kind === "call" ? { ...step, verdict: undefined } : step;

function changeStep(steps: readonly CassetteStep[], change: ForkChange, hasAnswers: boolean): CassetteStep[] {
  const { prompt, model, result, approval, rule } = change;
  const target = steps[change.step - 1];
  if (!target) throw refused(`There is no step ${change.step}.`, `Give a step from 1 to ${steps.length}.`);
  if (!hasAnswers && [prompt, model, result, approval, rule].every((each) => each === undefined)) {
    throw refused(
      "The fork changes nothing.",
      "Give --prompt, --model, --result, --rule, --allow, --deny or --script.",
    );
  }
  let next = [...steps];
  if (prompt !== undefined || model !== undefined) next = changeMessage(next, target, change);
  if (approval !== undefined) next = changeApproval(next, target, change);
  if (result !== undefined) next = changeResult(next, target, result);
  return next;
}

function changeMessage(steps: CassetteStep[], target: CassetteStep, { prompt, model }: ForkChange): CassetteStep[] {
  if (target.kind !== "input" || target.event.type !== "user.message") {
    throw wrongKind(target, "a message", steps, (step) => step.kind === "input" && step.event.type === "user.message");
  }
  const { event } = target;
  const content = prompt === undefined ? event.content : withText(event.content, prompt);
  return steps.map((step) => {
    if (step === target) return { ...target, event: { ...event, content, ...(model !== undefined && { model }) } };
    if (model === undefined || step.step < target.step || step.kind !== "model") return step;
    return step.answer?.type === "message" ? { ...step, answer: { ...step.answer, model } } : step;
  });
}

/** Replaces the texts and keeps images and documents. */
const withText = (content: readonly CassetteBlock[], text: string): CassetteBlock[] => [
  ...content.filter(({ type }) => type !== "text"),
  { type: "text", text },
];

function changeApproval(steps: CassetteStep[], target: CassetteStep, change: ForkChange): CassetteStep[] {
  const isAnswerTo = (step: CassetteStep, call: string) =>
    step.kind === "input" && step.event.type === "user.tool_confirmation" && step.event.call === call;
  const call = callOf(target);
  const answer = call === undefined ? undefined : steps.find((step) => isAnswerTo(step, call));
  if (answer?.kind !== "input" || answer.event.type !== "user.tool_confirmation") {
    throw wrongKind(
      target,
      "an approval",
      steps,
      (step) => step.kind === "input" && step.event.type === "user.tool_confirmation",
    );
  }
  const { event } = answer;
  if (change.approval === "allow" && event.result === "deny" && change.result === undefined) {
    throw refused("The call was denied, so that it has no recorded result.", "Give its result with --result.");
  }
  const { deny_message: _message, ...kept } = event;
  const result = change.approval ?? event.result;
  return steps.map((step) => (step === answer ? { ...answer, event: { ...kept, result } } : step));
}

function changeResult(steps: CassetteStep[], target: CassetteStep, text: string): CassetteStep[] {
  const id = callOf(target);
  const isCall = (step: CassetteStep) => step.kind === "call" && step.id === id;
  if (id === undefined || !steps.some(isCall)) throw wrongKind(target, "a call", steps, ({ kind }) => kind === "call");
  const content = [{ type: "text", text }];
  return steps.map((step) => {
    if (step.kind === "call" && step.id === id) {
      return { ...step, result: { content, is_error: false, crc32: resultChecksum(content) } };
    }
    // The result of a custom tool is an input.
    if (step.kind === "input" && step.event.type === "user.custom_tool_result" && step.event.call === id) {
      return { ...step, event: { ...step.event, content, is_error: false } };
    }
    return step;
  });
}

function callOf(step: CassetteStep): string | undefined {
  if (step.kind === "call") return step.id;
  return step.kind === "input" && "call" in step.event ? step.event.call : undefined;
}

/** The answer of the model that has the step, or the step itself between turns. */
function startOfRound(steps: readonly CassetteStep[], step: number): number {
  const before = steps.slice(0, step).findLast(({ kind }) => kind === "model" || kind === "idle");
  return before?.kind === "model" ? before.step : step;
}

/** The number of steps up to the last call and input beside the changed step. A script continues after them. */
function endOfRound(steps: readonly CassetteStep[], step: number): number {
  if (steps[step - 1]?.kind === "model") return step - 1;
  const end = steps.findIndex((each, index) => index >= step && (each.kind === "model" || each.kind === "idle"));
  return end === -1 ? steps.length : end;
}

function wrongKind(
  { step, kind }: CassetteStep,
  wanted: string,
  steps: readonly CassetteStep[],
  fits: (step: CassetteStep) => boolean,
): TandemError {
  const numbers = steps.filter(fits).map((each) => each.step);
  const fix = numbers.length > 0 ? `Give one of the steps ${numbers.join(", ")}.` : "This cassette has no such step.";
  return refused(`Step ${step} is not ${wanted} (${kind}).`, fix);
}

const refused = (message: string, fix: string): TandemError => new TandemError("usage", message, { fix });

const requestBody = z.looseObject({ model: z.string(), stream: z.boolean().optional() });
const PASSED_HEADERS = ["anthropic-version", "anthropic-beta"] as const;

/** A real model answers, through a proxy that has the credential. Its answers pass as they arrive. */
const liveScript =
  (proxy: MessagesProxy, signal: AbortSignal = new AbortController().signal): Script =>
  async (request: ModelRequest): Promise<Reply> => {
    const parsed = requestBody.parse(request.body);
    const headers = PASSED_HEADERS.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    const answer = await proxy.send({
      operation: "create",
      body: Buffer.from(JSON.stringify(request.body)),
      parsed,
      headers: Object.fromEntries(headers),
      signal,
    });
    return raw(answer.status, answer.headers, answer.body);
  };
