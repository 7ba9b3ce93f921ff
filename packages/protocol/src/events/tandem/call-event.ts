import { z } from "zod";
import { PERMISSION_MODES, SANDBOX_VIOLATIONS, TOOL_CALL_STATES } from "../../words.ts";
import { approvalOutcome } from "../approval-answer.ts";
import { codeDiagnostic } from "../code-diagnostic.ts";
import { described, event, eventId } from "../event-schema.ts";
import { todo } from "../todo.ts";

// Tool calls, and the decisions about them.

const callId = described("The id of the call.", eventId);

export const tandemCallEvents = {
  ...event("tandem.todo", "The agent's list of tasks.", { todos: z.array(todo) }),
  ...event("tandem.permission_denied", "Claude Code itself denied a call.", {
    name: z.string(),
    tool_use_id: z.string(),
    reason: z.string(),
  }),
  ...event(
    "tandem.approval_resolved",
    "An approval or question has ended: a person answered, or it was denied because it expired or its turn ended. Written once for each.",
    { event_id: callId, ...approvalOutcome.shape },
  ),
  ...event("tandem.tool_state", "The state of a call that a person was asked about. The last one counts.", {
    event_id: callId,
    state: z.enum(TOOL_CALL_STATES),
    reason: z.string().optional(),
  }),
  ...event("tandem.mode", "The permission mode changed.", { mode: z.enum(PERMISSION_MODES), by: z.string() }),
  ...event("tandem.hook", "A host hook ran.", {
    on: z.string(),
    hook: z.string(),
    outcome: z.enum(["passed", "changed", "blocked", "failed"]),
    message: z.string().optional(),
    event_id: eventId.optional(),
  }),
  ...event("tandem.sandbox_violation", "The sandbox blocked something.", {
    kind: z.enum(SANDBOX_VIOLATIONS),
    target: described("A host with an optional port, a path, or the name of a limit.", z.string()),
    rule: described("The reason, in one sentence.", z.string()),
    fix: described("The way to allow it, in one sentence.", z.string()),
    event_id: described("The call, if known.", eventId.optional()),
  }),
  ...event("tandem.diagnostics", "Errors that an edit added, by a language server.", {
    event_id: described("The call of the edit.", eventId),
    server: z.string(),
    diagnostics: z.array(codeDiagnostic),
    total: described("Counts also those that are left out.", z.int()),
  }),
};
