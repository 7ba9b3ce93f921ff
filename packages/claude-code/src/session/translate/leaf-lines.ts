import type { Answers } from "./answers.ts";
import type { Calls } from "./calls.ts";
import type { Spans } from "./spans.ts";
import type { Threads } from "./subagent-threads.ts";
import type { LeafPath } from "./translator-input.ts";
import { readLeafLine, readTask } from "./workflow-message.ts";
import type { WorkflowRuns } from "./workflow-runs.ts";

/** Translates the transcripts of agents in workflow runs: they have no messages. */
export class LeafLines {
  readonly #runs: WorkflowRuns;
  readonly #parts: { threads: Threads; spans: Spans; answers: Answers; calls: Calls };

  constructor(runs: WorkflowRuns, parts: { threads: Threads; spans: Spans; answers: Answers; calls: Calls }) {
    this.#runs = runs;
    this.#parts = parts;
  }

  line(path: LeafPath, of: unknown, isInterrupting: boolean): void {
    const line = readLeafLine(of);
    const thread = line && this.#runs.line(path, line);
    if (!line || !thread) return;
    const { threads, spans, answers, calls } = this.#parts;
    if (line.type === "assistant" && !line.error && !line.isApiErrorMessage) {
      const { message } = line;
      spans.answer(thread, message);
      threads.spoke(thread, message.content);
      for (const block of message.content) answers.block(thread, block, message.id);
    }
    if (line.type === "user") {
      for (const block of line.message.content) {
        if (block.type === "tool_result") calls.result(block, line.toolUseResult, isInterrupting);
        else threads.leafTold(thread, readTask(block.text));
      }
    }
    this.#runs.lineRead(path, line);
  }
}
