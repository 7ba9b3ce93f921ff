import type { LlmError } from "@tandem/protocol";
import type { z } from "zod";
import type { Run } from "../../runs/job-run.ts";
import { ModelCalls } from "../../runs/model-calls.ts";
import { stepTogether } from "../../runs/step-together.ts";
import type { DocumentRecord } from "../evidence/document-record.ts";

/** How a stage asks about its pages. */
interface PageQuestion<Page, Answer> {
  /** Of the stored answer about one page. */
  schema: z.ZodType<Answer, Answer>;
  /** Everything that an answer depends on. */
  inputsOf: (page: Page) => unknown;
  batchesOf: (pages: readonly Page[]) => Page[][];
  /** Its schema gives one answer for each page, in their order. */
  requestOf: (batch: readonly Page[]) => { system: string; prompt: string; schema: z.ZodType<Answer[]> };
}

/** Pages without an answer. All are listed as skipped, and the next run asks again. */
export interface UnansweredPages {
  /** A failure is not an answer. */
  failed: { document: DocumentRecord; error: LlmError }[];
  /** Pages that were not requested any more, and why. */
  stopped?: { error: LlmError; pages: number };
}

/**
 * A model's answers about the pages of one stage. Small pages share a request. Each answer is cached by its own page, so a
 * changed page asks only for itself, and nothing is paid for twice. A batch that fails because of its content is retried page
 * by page, so that one refused page does not affect the others.
 */
export class PageAnswers<Answer> {
  readonly answers = new Map<DocumentRecord, Answer>();
  readonly #failures = new Map<DocumentRecord, LlmError>();
  readonly #run: Run;
  readonly #stage: string;
  readonly #total: number;
  readonly #calls: ModelCalls;

  constructor(run: Run, stage: string, total: number) {
    this.#run = run;
    this.#stage = stage;
    this.#total = total;
    this.#calls = new ModelCalls(run, "triage");
    run.emit({ type: "stage_started", stage, total });
  }

  async ask<Page extends { document: DocumentRecord }>(
    pages: readonly Page[],
    { schema, inputsOf, batchesOf, requestOf }: PageQuestion<Page, Answer>,
  ): Promise<void> {
    const request = async (batch: readonly Page[], keep: (page: Page, answer: Answer) => void): Promise<void> => {
      const reply = await this.#calls.object(requestOf(batch));
      if ("answer" in reply) {
        for (const [index, page] of batch.entries()) {
          keep(page, reply.answer[index]!);
          this.#settle(this.answers, page, reply.answer[index]!);
        }
      } else if (this.#calls.stopped) {
        // Pages that were never requested have not failed.
        return;
      } else if (batch.length > 1 && reply.error.code !== "timeout") {
        for (const page of batch) await request([page], keep);
      } else {
        for (const page of batch) this.#settle(this.#failures, page, reply.error);
      }
    };
    await stepTogether(this.#run, {
      kind: this.#stage,
      schema,
      items: pages,
      inputsOf,
      onStored: (page, stored) => this.#settle(this.answers, page, stored),
      compute: async (missing, keep) => {
        await Promise.all(batchesOf(missing).map((batch) => request(batch, keep)));
      },
    });
  }

  /** Ends the stage. Lists the pages without an answer as skipped, and counts them with the stage's own `counts`. */
  finish(counts: Record<string, number>): UnansweredPages {
    const failed = [...this.#failures].map(([document, error]) => ({ document, error }));
    for (const { document, error } of failed) this.#run.skip(this.#stage, nameOf(document), error);
    const left = this.#total - this.answers.size - failed.length;
    const { stopped } = this.#calls;
    if (stopped && left > 0) this.#run.skip(this.#stage, `${left} ${left === 1 ? "page" : "pages"}`, stopped);
    this.#run.emit({
      type: "stage_finished",
      stage: this.#stage,
      counts: { ...counts, failed: failed.length, left },
    });
    return { failed, ...(stopped && left > 0 && { stopped: { error: stopped, pages: left } }) };
  }

  #settle<T>(results: Map<DocumentRecord, T>, { document }: { document: DocumentRecord }, result: T): void {
    results.set(document, result);
    const done = this.answers.size + this.#failures.size;
    const item = nameOf(document);
    this.#run.emit({ type: "stage_progress", stage: this.#stage, done, total: this.#total, item });
  }
}

const nameOf = ({ source, path }: DocumentRecord): string => `${source}/${path}`;
