import type { Todo } from "@tandem/protocol";
import { CircleCheck, CircleDashed, CircleDot, ListChecks } from "lucide-react";

const ICONS = { completed: CircleCheck, in_progress: CircleDot, pending: CircleDashed } as const;
const LOOKS = { completed: "text-good", in_progress: "text-accent", pending: "text-ink-faint" } as const;
const WORDS = { completed: "Done", in_progress: "In progress", pending: "To do" } as const;

export function TodoList({ todos }: { todos: readonly Todo[] }) {
  return (
    <ul className="space-y-0.5 text-sm">
      {todos.map(({ id, content, status, active_form }) => {
        const Icon = ICONS[status];
        return (
          <li key={id} className="flex items-start gap-2">
            <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${LOOKS[status]}`} />
            <span
              className={
                status === "completed" ? "text-ink-faint line-through" : status === "pending" ? "text-ink-soft" : ""
              }
            >
              <span className="sr-only">{WORDS[status]}: </span>
              {status === "in_progress" ? (active_form ?? content) : content}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

export const doneOf = (todos: readonly Todo[]): string =>
  `${todos.filter(({ status }) => status === "completed").length} of ${todos.length} done`;

/** A replaced todo list in one line: progress and the current item. */
export function CollapsedTodos({ todos }: { todos: readonly Todo[] }) {
  const current = todos.find(({ status }) => status === "in_progress");
  return (
    <p className="flex min-h-7 items-center gap-2 text-sm text-ink-faint">
      <ListChecks aria-hidden className="size-4 shrink-0" />
      <span className="shrink-0 tabular-nums">{doneOf(todos)}</span>
      {current && <span className="min-w-0 truncate">{current.active_form ?? current.content}</span>}
    </p>
  );
}
