import type { OwnSteps } from "@tandem/claude-code/emulated";
import type { CassetteStep, CassetteStepOf } from "@tandem/protocol";

type Compaction = NonNullable<ReturnType<OwnSteps["compaction"]>>;

/** Steps that Claude Code took by itself in a recorded run: compactions, side requests, and turns after background tasks. */
export class RecordedOwnSteps implements OwnSteps {
  readonly #primary: readonly CassetteStep[];
  /** The positions of the requests in the steps of the primary thread. */
  readonly #places: readonly number[];
  readonly #requests: () => number;
  readonly #done = new Set<CassetteStep>();

  /** `requests`: how many requests the primary thread has made. */
  constructor(steps: readonly CassetteStep[], requests: () => number) {
    this.#primary = steps.filter(({ thread }) => thread === undefined);
    this.#places = this.#primary.flatMap((step, index) => (isRequest(step) ? [index] : []));
    this.#requests = requests;
  }

  asksModel(content: Parameters<OwnSteps["asksModel"]>[0]): boolean {
    const steps = this.#after(this.#requests());
    const text = textOf(content);
    const message = steps.findIndex(
      (step) => step.kind === "input" && step.event.type === "user.message" && textOf(step.event.content) === text,
    );
    return message === -1 || !steps.slice(message).some(({ kind }) => kind === "idle") || !text.startsWith("/");
  }

  compaction(when: "request" | "answer"): Compaction | undefined {
    const found = this.#compactionStep(when);
    if (!found) return undefined;
    this.#done.add(found.step);
    const { trigger, tokens_before, tokens_after } = found.event;
    return { trigger, pre_tokens: tokens_before, ...(tokens_after !== undefined && { post_tokens: tokens_after }) };
  }

  #compactionStep(when: "request" | "answer") {
    const requests = this.#requests();
    for (const step of this.#after(when === "request" ? requests : requests + 1)) {
      if (step.kind !== "input" || step.event.type !== "tandem.compaction" || this.#done.has(step)) continue;
      if ((step.during === "answer") === (when === "answer")) return { step, event: step.event };
    }
    return undefined;
  }

  unseenRequests(): ReturnType<OwnSteps["unseenRequests"]> {
    const found: ReturnType<OwnSteps["unseenRequests"]> = [];
    for (const step of this.#after(this.#requests())) {
      if (this.#done.has(step)) continue;
      if (step.kind === "model" && step.answer?.type === "message") {
        this.#done.add(step);
        found.push({ model: step.answer.model ?? "", usage: step.answer.usage });
      }
      if (step.kind !== "idle") continue;
      this.#done.add(step);
      break;
    }
    return found;
  }

  next(): ReturnType<OwnSteps["next"]> {
    const requests = this.#requests();
    const steps = this.#after(requests);
    for (const step of steps) {
      if (step.kind === "idle") {
        const isLast = step === steps.at(-1) && requests < this.#places.length;
        return isLast ? "resume" : "rest";
      }
      if (step.kind !== "input") continue;
      if (step.event.type === "span.outcome_evaluation_end") return "rest";
      if (step.event.type === "user.message" || step.event.type === "user.define_outcome") return "message";
    }
    return requests < this.#places.length ? "continue" : "message";
  }

  /** The answer to real Claude Code's request for a summary: only its tokens are known. Undefined if it does not compact here. */
  summary(): CassetteStepOf<"model">["answer"] | undefined {
    const compaction = this.#compactionStep("request") ?? this.#compactionStep("answer");
    const rest = compaction ? this.#primary.slice(this.#primary.indexOf(compaction.step)) : [];
    const request = rest.filter((step) => step.kind === "model").find((step) => step.unseen && !this.#done.has(step));
    if (!compaction || !request) return undefined;
    this.#done.add(compaction.step).add(request);
    return request.answer;
  }

  /** The steps between a request and the next one. */
  #after(requests: number): readonly CassetteStep[] {
    const from = requests === 0 ? 0 : (this.#places[requests - 1] ?? this.#primary.length) + 1;
    return this.#primary.slice(from, this.#places[requests]);
  }
}

/** A request that the model answers in a replay. */
export const isRequest = (step: CassetteStep): step is CassetteStepOf<"model"> =>
  step.kind === "model" && step.unseen === undefined;

const textOf = (content: readonly Record<string, unknown>[]): string =>
  content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n\n");
