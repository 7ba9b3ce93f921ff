import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Replaces `Date` in a Node program by one with an offset, which it reads from a file. Monotonic clocks stay, as in reality. */
const HOOK = `
import { readFileSync, writeFileSync } from "node:fs";
const [file, mark] = [process.env.CRASH_TEST_CLOCK, process.env.CRASH_TEST_CLOCK_MARK];
const RealDate = Date;
let offset;
const read = () => {
  try {
    const next = Number(readFileSync(file, "utf8")) || 0;
    if (next === offset) return;
    offset = next;
    writeFileSync(mark, String(offset));
  } catch {}
};
if (file) {
  read();
  setInterval(read, 50).unref();
  globalThis.Date = class Date extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + offset);
      else super(...args);
    }
    static now() {
      return RealDate.now() + offset;
    }
  };
}
`;
/** The hook reads every 50 ms. A busy process takes longer. */
const APPLY_MS = 5_000;
const POLL_MS = 20;

/** Steps the wall clock of servers that run on Node. Others do not load the hook, and the fault is skipped. */
export class ClockStep {
  readonly variables: Readonly<Record<string, string>>;
  readonly #file: string;
  readonly #mark: string;

  private constructor(folder: string) {
    const hook = join(folder, "clock-hook.mjs");
    this.#file = join(folder, "clock-offset");
    this.#mark = join(folder, "clock-hook-loaded");
    const options = process.env["NODE_OPTIONS"];
    this.variables = {
      NODE_OPTIONS: `${options ? `${options} ` : ""}--import=${pathToFileURL(hook).href}`,
      CRASH_TEST_CLOCK: this.#file,
      CRASH_TEST_CLOCK_MARK: this.#mark,
    };
  }

  static async create(folder: string): Promise<ClockStep> {
    const clock = new ClockStep(folder);
    await writeFile(join(folder, "clock-hook.mjs"), HOOK);
    await clock.#write(0);
    return clock;
  }

  /** Whether a tested process has loaded the hook. */
  get isLoaded(): boolean {
    return existsSync(this.#mark);
  }

  /** Returns whether the clock of a running process has moved. */
  async moveTo(offsetMs: number): Promise<boolean> {
    const isKnown = (await this.#applied()) === offsetMs;
    await this.#write(offsetMs);
    const deadline = Date.now() + APPLY_MS;
    while ((await this.#applied()) !== offsetMs) {
      if (Date.now() > deadline) return false;
      await sleep(POLL_MS);
    }
    return !isKnown;
  }

  /** The offset that a process has applied last. */
  async #applied(): Promise<number | undefined> {
    const text = await readFile(this.#mark, "utf8").catch(() => "");
    return text === "" ? undefined : Number(text);
  }

  async #write(offsetMs: number): Promise<void> {
    await writeFile(`${this.#file}.new`, String(offsetMs));
    await rename(`${this.#file}.new`, this.#file);
  }
}
