import type { EventId, HookConfig, SessionEventBody } from "@tandem/protocol";
import { z } from "zod";
import { namesTool } from "@tandem/policy";
import type { PinnedHook } from "./pin-hooks.ts";
import { type HookRun, runHook } from "./run-hook.ts";

/** A hook's answer. An empty answer has no effect. */
const hookAnswer = z.strictObject({
  decision: z.enum(["allow", "block"]).optional(),
  /** The reason for a block, for the model and for people. */
  message: z.string().max(10_000).optional(),
  /** Added to the model's input. */
  context: z.string().max(100_000).optional(),
  /** Before a tool: the new input. */
  input: z.record(z.string(), z.unknown()).optional(),
});

export interface HookQuestion {
  on: HookConfig["on"];
  /** For tool hooks: `Bash`, or `mcp__SERVER__TOOL`. */
  tool?: string;
  input?: Record<string, unknown>;
  /** Additional fields for the hook. */
  about: Record<string, unknown>;
  eventId?: EventId;
}

export type HooksSaid = { events: SessionEventBody[]; context?: string } & (
  | { allow: true; input?: Record<string, unknown> }
  | { allow: false; message: string }
);

/** Programs and URLs that are called about actions of sessions. A failing hook blocks, unless configured otherwise. */
export class HostHooks {
  readonly #hooks: readonly PinnedHook[];

  constructor(hooks: readonly PinnedHook[]) {
    this.#hooks = hooks;
  }

  /** Whether any hook is configured. */
  has(on: HookConfig["on"]): boolean {
    return this.#hooks.some((hook) => hook.on === on);
  }

  /** Runs the matching hooks in order; each gets the changes of the previous one. The first block ends the run. */
  async ask(question: HookQuestion, run: HookRun): Promise<HooksSaid> {
    const { on, about, eventId } = question;
    const events: SessionEventBody[] = [];
    const contexts: string[] = [];
    let { input } = question;
    let changed = false;
    const said = () => ({ events, ...(contexts.length > 0 && { context: contexts.join("\n\n") }) });
    for (const hook of this.#hooks.filter((each) => each.on === on && concerns(each, question.tool))) {
      const note = { type: "tandem.hook" as const, on, hook: hook.name, ...(eventId && { event_id: eventId }) };
      try {
        const text = (await runHook(hook, { on, ...about, ...(input && { input }) }, run)).trim();
        const answer = text === "" ? {} : hookAnswer.parse(JSON.parse(text));
        if (answer.decision === "block") {
          const message = answer.message ?? `The hook ${hook.name} blocked it.`;
          events.push({ ...note, outcome: "blocked", message });
          return { ...said(), allow: false, message };
        }
        if (answer.context !== undefined) contexts.push(answer.context);
        if (answer.input && on === "beforeTool") {
          input = answer.input;
          changed = true;
        }
        const isChange = answer.context !== undefined || (answer.input !== undefined && on === "beforeTool");
        events.push({ ...note, outcome: isChange ? "changed" : "passed" });
      } catch (error) {
        const message = `The hook ${hook.name} failed: ${reason(error)}.`;
        events.push({ ...note, outcome: "failed", message });
        if (hook.failure === "block") return { ...said(), allow: false, message };
      }
    }
    return { ...said(), allow: true, ...(changed && { input }) };
  }
}

const concerns = ({ tool: pattern }: HookConfig, tool: string | undefined): boolean =>
  pattern === undefined || tool === undefined || namesTool(pattern, tool);

const reason = (error: unknown): string => {
  if (error instanceof z.ZodError)
    return `its answer is not what a hook may say (${z.prettifyError(error).replaceAll(/\s+/g, " ")})`;
  if (error instanceof SyntaxError) return "its answer is no JSON";
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "");
};
