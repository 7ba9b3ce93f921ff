import { LlmError } from "@tandem/protocol";
import type { Child } from "./child.ts";
import { timedOut } from "./process-errors.ts";

/**
 * Waits for a reaction of Claude Code. Rejects with the known failure of the process, an `LlmError` of the work, the timeout, or
 * why the process died.
 */
export async function withinDeadline<T>(
  {
    ms,
    what,
    child,
    failure,
  }: {
    ms: number;
    /** Completes "Claude Code did not". */
    what: string;
    child: () => Child | undefined;
    failure: () => LlmError | undefined;
  },
  work: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(what, ms)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    const known = failure();
    if (known || error instanceof LlmError) throw known ?? error;
    throw await exitError(child(), error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Why a process died. Its stderr is complete once it has exited. */
export async function exitError(child: Child | undefined, reason: string): Promise<LlmError> {
  const tail = await child?.stderrTail();
  const why = child?.exitReason(reason) ?? reason;
  return new LlmError("process_died", `The Claude Code process died: ${why}${tail ? ` (stderr: ${tail})` : ""}`);
}
