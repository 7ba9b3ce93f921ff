import type { ThreadId, Todo } from "@tandem/protocol";
import { z } from "zod";
import type { Call } from "./calls.ts";
import type { Emit } from "./emit.ts";

const STATUSES = ["pending", "in_progress", "completed"] as const;
const status = z.enum(STATUSES);

const written = z.object({
  todos: z.array(z.object({ content: z.string(), status, activeForm: z.string().optional() })),
});
const created = z.object({ subject: z.string(), activeForm: z.string().optional() });
const createdAs = z.object({ task: z.object({ id: z.coerce.string() }) });
const updated = z.object({
  taskId: z.coerce.string(),
  status: z.enum([...STATUSES, "deleted"]).optional(),
  subject: z.string().optional(),
  activeForm: z.string().optional(),
});

/** The to-do list. Claude Code has tools for the whole list and tools for single tasks; both are covered. */
export class Todos {
  readonly #emit: Emit;
  readonly #lists = new Map<ThreadId | null, Map<string, Todo>>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** A successful call with its structured output. */
  noted(call: Call, output: unknown): void {
    const list = this.#lists.get(call.thread) ?? new Map<string, Todo>();
    const next = change(call, output, list);
    if (!next) return;
    this.#lists.set(call.thread, next);
    this.#emit.event(call.thread, { type: "tandem.todo", todos: [...next.values()] });
  }
}

function change(
  { name, input }: Call,
  output: unknown,
  list: ReadonlyMap<string, Todo>,
): Map<string, Todo> | undefined {
  switch (name) {
    case "TodoWrite": {
      const { todos } = written.safeParse(input).data ?? {};
      return todos && new Map(todos.map((todo, index) => [String(index + 1), asTodo(String(index + 1), todo)]));
    }
    case "TaskCreate": {
      const task = created.safeParse(input).data;
      const id = createdAs.safeParse(output).data?.task.id;
      if (!task || id === undefined) return undefined;
      return new Map(list).set(
        id,
        asTodo(id, { content: task.subject, status: "pending", activeForm: task.activeForm }),
      );
    }
    case "TaskUpdate": {
      const task = updated.safeParse(input).data;
      if (!task) return undefined;
      const next = new Map(list);
      if (task.status === "deleted") next.delete(task.taskId);
      else next.set(task.taskId, merge(list.get(task.taskId), task));
      return next;
    }
    default:
      return undefined;
  }
}

const asTodo = (
  id: string,
  { content, status, activeForm }: { content: string; status: Todo["status"]; activeForm?: string | undefined },
): Todo => ({ id, content, status, ...(activeForm !== undefined && { active_form: activeForm }) });

/** A task created by an earlier process is known only by its number. */
function merge(before: Todo | undefined, task: z.infer<typeof updated>): Todo {
  const status = task.status === "deleted" ? undefined : task.status;
  return asTodo(task.taskId, {
    content: task.subject ?? before?.content ?? `Task ${task.taskId}`,
    status: status ?? before?.status ?? "pending",
    activeForm: task.activeForm ?? before?.active_form,
  });
}
