import { systemClock } from "@tandem/protocol";
import type { Diagnostic } from "./lsp-shapes.ts";

/** Servers report syntax first and types a moment later: the report counts after so long without another. */
const SETTLE_MS = 300;
/** Some servers withdraw all errors of a changed file, and report those that remain when they have checked it. */
const EMPTY_SETTLE_MS = 1_000;
/** For a report that may not come, because only other files changed. */
const PERHAPS_MS = 1_000;

/** The diagnostics of one document, for servers that report them unasked after a change. */
export class DiagnosticWait {
  #last: Diagnostic[] | undefined;
  /** Whether a report is due for the current text. */
  #due: "yes" | "perhaps" | "no" = "yes";
  #onPublish: (() => void) | undefined;

  /** The last known ones. */
  get last(): Diagnostic[] | undefined {
    return this.#last;
  }

  /** The document has changed. */
  expect(): void {
    this.#due = "yes";
  }

  /** Another file has changed. */
  expectPerhaps(): void {
    if (this.#due === "no") this.#due = "perhaps";
  }

  publish(diagnostics: Diagnostic[]): void {
    this.#last = diagnostics;
    this.#due = "no";
    this.#onPublish?.();
  }

  /** Of a server that was asked for them. */
  keep(diagnostics: Diagnostic[]): Diagnostic[] {
    this.#last = diagnostics;
    this.#due = "no";
    return diagnostics;
  }

  /** Resolves when the report for the current text has come. Rejects if it does not come in time. */
  async next({ ms, signal }: { ms: number; signal?: AbortSignal }): Promise<Diagnostic[]> {
    const deadline = systemClock.monotonic() + ms;
    while (this.#due !== "no") {
      const left = deadline - systemClock.monotonic();
      const isSure = this.#due === "yes";
      const came = await this.#published(isSure ? left : Math.min(left, PERHAPS_MS), signal);
      if (signal?.aborted) throw new Error("it was interrupted");
      if (!came && isSure) throw new Error(`it reported no diagnostics within ${ms / 1_000} s`);
      if (!came) this.#due = "no";
      else while (await this.#published(Math.min(this.#settleMs, deadline - systemClock.monotonic()), signal));
    }
    return this.#last ?? [];
  }

  get #settleMs(): number {
    return this.#last?.length ? SETTLE_MS : EMPTY_SETTLE_MS;
  }

  #published(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (came: boolean): void => {
        cancel();
        signal?.removeEventListener("abort", onAbort);
        this.#onPublish = undefined;
        resolve(came);
      };
      const onAbort = (): void => end(false);
      const cancel = systemClock.after(Math.max(0, ms), () => end(false), { keepsProcess: true });
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#onPublish = () => end(true);
    });
  }
}
