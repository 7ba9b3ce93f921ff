import type { RunEvent } from "@tandem/context";
import type { Invocation } from "../invocation.ts";
import { Progress } from "../progress.ts";
import { printable } from "../terminal.ts";

const BAR = 20;
/** Time between two lines within a stage without a terminal. */
const LINE_MS = 5_000;

/**
 * Shows a job's progress on stderr. On a terminal: one line with a bar, the current item, countdowns and cost. Elsewhere: one
 * line for each stage, wait and skipped item, and every few seconds one within a stage. Disposing clears the line.
 */
export class RunView implements Disposable {
  readonly #invocation: Pick<Invocation, "stderr" | "json">;
  readonly #progress: Progress;
  readonly #prefix: string;
  #label = "";
  #spent = "";
  #lastLine = Date.now();

  constructor(invocation: Pick<Invocation, "stderr" | "json">, what: string) {
    this.#invocation = invocation;
    this.#prefix = what;
    this.#progress = new Progress(invocation, `${what} …`);
  }

  /** `isKept`: an earlier run finished this stage, and its expensive results are reused. */
  show(event: RunEvent, isKept = false): void {
    switch (event.type) {
      case "stage_started":
        this.#move(event.stage, 0, event.total, null);
        break;
      case "stage_progress":
        this.#move(event.stage, event.done, event.total, event.item);
        break;
      case "stage_finished":
        this.#line(`${event.stage}: ${describeCounts(event.counts)}${isKept ? " (done before)" : ""}`);
        break;
      case "skipped":
        this.#line(`${event.stage}: skipped ${event.item}: ${event.message}`);
        break;
      case "unit_step":
        this.#draw(printable([`${event.unit}: step ${event.step}`, ...event.tools.slice(0, 3)].join(", ")));
        this.#lineWithin(`${event.unit}: step ${event.step}`);
        break;
      case "waiting":
        this.#progress.wait({
          reason: event.reason,
          ...(event.until !== null && { until: new Date(event.until) }),
          attempt: 1,
        });
        break;
      case "spent":
        this.#spent = describeSpent(event);
        this.#draw();
        break;
      default:
    }
  }

  [Symbol.dispose](): void {
    this.#progress[Symbol.dispose]();
  }

  #move(stage: string, done: number, total: number | null, item: string | null): void {
    const filled = total ? Math.floor((Math.min(done, total) / total) * BAR) : 0;
    const bar = total ? `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${done}/${total} ` : "";
    this.#label = `${stage} ${bar}${item === null ? "" : printable(item)}`.trimEnd();
    this.#draw();
    const share = total ? `${done} of ${total} (${Math.floor((Math.min(done, total) / total) * 100)} %)` : `${done}`;
    if (done > 0) this.#lineWithin(`${stage}: ${[share, item, this.#spent].filter(Boolean).join(", ")}`);
  }

  #lineWithin(text: string): void {
    if (Date.now() - this.#lastLine >= LINE_MS) this.#line(text);
  }

  #draw(unit = ""): void {
    this.#progress.label([`${this.#prefix}: ${this.#label}`, unit, this.#spent].filter(Boolean).join(" · "));
  }

  /** On a terminal, the summary at the end replaces these lines. */
  #line(text: string): void {
    const { stderr, json } = this.#invocation;
    this.#lastLine = Date.now();
    if (!stderr.isTTY && !json) stderr.write(`${this.#prefix}: ${printable(text)}\n`);
  }
}

/** `12 tables, 3 gone`. Zero counts are left out. */
export function describeCounts(counts: Readonly<Record<string, number>>, none = "nothing"): string {
  const said = Object.entries(counts).filter(([, count]) => count > 0);
  return said.map(([name, count]) => `${count.toLocaleString("en-US")} ${counted(name, count)}`).join(", ") || none;
}

/** `tables`, `new pages` and `pages evicted` of one are `table`, `new page` and `page evicted`. */
const counted = (name: string, count: number): string =>
  count === 1 ? name.replace(/^(\w+ )??(\w+[^\Ws])s\b/, "$1$2") : name;

/** `3 requests, $0.0124 at list price`. */
export function describeSpent({ requests, usd }: { requests: number; usd: number | null }): string {
  if (requests === 0) return "";
  const price = usd === null ? "price unknown" : `$${usd.toFixed(4)} at list price`;
  return `${requests} ${requests === 1 ? "request" : "requests"}, ${price}`;
}
