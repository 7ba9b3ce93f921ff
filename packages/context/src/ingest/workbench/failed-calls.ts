import type { Tool } from "@tandem/runtime";
import { z } from "zod";

const MAX_CALLS = 20;
const MAX_TEXT = 300;

export const failedCall = z.strictObject({ tool: z.string(), target: z.string(), message: z.string() });
export type FailedCall = z.output<typeof failedCall>;

/** Collects an agent's calls that failed, except those that it repeated with success. */
export class FailedCalls {
  readonly #left = new Map<string, FailedCall>();

  /** The same tools, with their failures noted. */
  watch(tools: readonly Tool[]): Tool[] {
    return tools.map((tool) => ({
      ...tool,
      execute: async (input, context) => {
        const target = targetOf(tool, input);
        const key = JSON.stringify([tool.name, target]);
        try {
          const output = await tool.execute(input, context);
          this.#left.delete(key);
          return output;
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          if (!context.signal.aborted) this.#left.set(key, { tool: tool.name, target, message: cut(message) });
          throw error;
        }
      },
    }));
  }

  get left(): FailedCall[] {
    return [...this.#left.values()].slice(0, MAX_CALLS);
  }
}

export const describeCall = ({ tool, target, message }: FailedCall): string =>
  `${tool}${target === "" ? "" : ` (${target})`} failed: ${message}`;

/** The page, key or query that a call is about: the first field of its tool's input. */
function targetOf({ schema }: Tool, input: unknown): string {
  const [field] = Object.keys(schema.shape);
  if (field === undefined || typeof input !== "object" || input === null || !(field in input)) return "";
  const value = (input as Record<string, unknown>)[field];
  return cut(typeof value === "string" ? value : JSON.stringify(value));
}

const cut = (text: string): string => text.slice(0, MAX_TEXT).toWellFormed();
