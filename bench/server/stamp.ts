// A stamp is a number and a time in the middle of an event's text, so that a receiver in any process
// can compute the latency and detect a missing event.

/** Occurs nowhere else in what is sent. */
const MARK = "~";
const MARK_BYTE = MARK.charCodeAt(0);
const NUMBER_DIGITS = 7;
const TIME_DIGITS = 16;
const LENGTH = 1 + NUMBER_DIGITS + TIME_DIGITS;
const ZERO = "0".charCodeAt(0);

/** Microseconds by a monotonic clock that all processes of a machine share. */
export const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n);

export const stamp = (number: number, timeUs: number): string =>
  `${MARK}${String(number).padStart(NUMBER_DIGITS, "0")}${String(Math.round(timeUs)).padStart(TIME_DIGITS, "0")}`;

/** The time of a stamp in a text; undefined without one. */
export function readStamp(text: string): { number: number; timeUs: number } | undefined {
  const at = text.indexOf(MARK);
  if (at === -1) return undefined;
  const timeAt = at + 1 + NUMBER_DIGITS;
  return { number: Number(text.slice(at + 1, timeAt)), timeUs: Number(text.slice(timeAt, timeAt + TIME_DIGITS)) };
}

/** Finds stamps in what a connection brings, without making sense of the rest: half a million of them in a second. */
export class StampFinder {
  readonly #found: (number: number, timeUs: number) => void;
  #rest: Buffer | undefined;

  constructor(found: (number: number, timeUs: number) => void) {
    this.#found = found;
  }

  /** The chunk may be used again by its owner afterwards. */
  feed(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = undefined;
    for (let at = bytes.indexOf(MARK_BYTE); at !== -1; at = bytes.indexOf(MARK_BYTE, at + LENGTH)) {
      if (at + LENGTH > bytes.length) {
        this.#rest = Buffer.from(bytes.subarray(at));
        return;
      }
      const timeAt = at + 1 + NUMBER_DIGITS;
      this.#found(digits(bytes, at + 1, timeAt), digits(bytes, timeAt, timeAt + TIME_DIGITS));
    }
  }
}

function digits(bytes: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) value = value * 10 + (bytes[at]! - ZERO);
  return value;
}
