import type { PartOf } from "@tandem/protocol";
import { CircleCheck, CircleDashed, CircleSlash, Gauge, ListChecks, OctagonX, PencilLine } from "lucide-react";
import type { ReactNode } from "react";
import { count } from "../../text/format.ts";
import { Markdown } from "../../text/markdown.tsx";

/** The outcome that a message defines, with its rubric. */
export function OutcomeCard({ part }: { part: PartOf<"outcome"> }) {
  const { grader, max_iterations: max } = part;
  const by = grader
    ? grader.type === "command"
      ? grader.command
      : `${grader.connection}: ${grader.query}`
    : undefined;
  return (
    <div className="w-full max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2 wrap-anywhere">
      <p className="mb-1 flex items-center gap-1.5 text-xs text-ink-soft">
        <ListChecks aria-hidden className="size-3.5" /> Outcome · at most {max}{" "}
        {max === 1 ? "evaluation" : "evaluations"}
      </p>
      <p className="whitespace-pre-wrap">{part.description}</p>
      <details className="mt-1.5 text-sm">
        <summary className="cursor-pointer text-ink-soft">Rubric</summary>
        <Markdown text={part.rubric} />
      </details>
      {by !== undefined && (
        <p className="mt-1 text-xs text-ink-soft">
          Graded by <code className="font-mono">{by}</code>
        </p>
      )}
    </div>
  );
}

const LOOKS: Readonly<Record<PartOf<"evaluation">["state"], { title: string; look: string; icon: typeof Gauge }>> = {
  running: { title: "Evaluating …", look: "bg-raised text-ink-soft", icon: Gauge },
  cut_off: { title: "No verdict", look: "bg-raised text-ink-soft", icon: CircleDashed },
  satisfied: { title: "Satisfied", look: "bg-good-soft text-good", icon: CircleCheck },
  needs_revision: { title: "Needs revision", look: "bg-wait-soft text-wait", icon: PencilLine },
  max_iterations_reached: { title: "Not satisfied, last evaluation", look: "bg-bad-soft text-bad", icon: OctagonX },
  failed: { title: "Evaluation failed", look: "bg-bad-soft text-bad", icon: OctagonX },
  interrupted: { title: "Outcome interrupted", look: "bg-raised text-ink-soft", icon: CircleSlash },
};

/** An evaluation of the outcome, with its verdict. */
export function EvaluationRow({ part }: { part: PartOf<"evaluation"> }): ReactNode {
  const { title, look, icon: Icon } = LOOKS[part.state];
  const tokens = part.usage ? part.usage.input_tokens + part.usage.output_tokens : 0;
  return (
    <section aria-label={`Evaluation ${part.iteration + 1}`} className={`my-1.5 rounded-lg px-3 py-2 text-sm ${look}`}>
      <p className="flex items-center gap-2 font-medium">
        <Icon aria-hidden className={`size-4 shrink-0 ${part.state === "running" ? "animate-pulse" : ""}`} />
        <span className="flex-1">{title}</span>
        <span className="text-xs font-normal text-ink-soft">
          Evaluation {part.iteration + 1}
          {tokens > 0 && ` · ${count(tokens)} tokens`}
        </span>
      </p>
      {part.explanation !== null && (
        <div className="mt-1 text-ink wrap-anywhere">
          <Markdown text={part.explanation} />
        </div>
      )}
    </section>
  );
}
