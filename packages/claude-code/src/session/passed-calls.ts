import { isDeepStrictEqual } from "node:util";
import type { PermissionMode } from "@tandem/protocol";

interface PassedCall {
  /** Claude Code's name, `mcp__SERVER__TOOL` for a tool of the host. */
  tool: string;
  input: unknown;
  /** Claude Code's mode after the call. */
  mode: PermissionMode | undefined;
}

/** Calls that the gate allowed, by the model's id. */
export class PassedCalls {
  readonly #calls = new Map<string, PassedCall | undefined>();
  readonly #used = new Set<string>();

  /** Without details for a call of an earlier process, which runs when Claude Code boots. */
  add(toolUseId: string, call?: PassedCall): void {
    this.#calls.set(toolUseId, call);
  }

  delete(toolUseId: string): void {
    this.#calls.delete(toolUseId);
    this.#used.delete(toolUseId);
  }

  has(toolUseId: string): boolean {
    return this.#calls.has(toolUseId);
  }

  modeAfter(toolUseId: string): PermissionMode | undefined {
    return this.#calls.get(toolUseId)?.mode;
  }

  /**
   * Whether a tool of the host may run: the gate allowed this call with this input, and it has not run yet. A command of the
   * agent that takes over the process could ask the host to run a tool.
   */
  admits(toolUseId: string | undefined, tool: string, input: Record<string, unknown>): boolean {
    const call = toolUseId === undefined ? undefined : this.#calls.get(toolUseId);
    if (toolUseId === undefined || !call || this.#used.has(toolUseId)) return false;
    if (plainName(call.tool) !== plainName(tool) || !isDeepStrictEqual(call.input, input)) return false;
    this.#used.add(toolUseId);
    return true;
  }
}

/** Claude Code replaces other characters in the names of tools. */
const plainName = (name: string): string => name.replaceAll(/[^\w-]/g, "_");
