/** Moves a recorded demo to another folder and another time. */
export interface Relocation {
  from: string;
  to: string;
  /** The start of the recording, in milliseconds. Earlier times, such as those in documents, stay as they are. */
  since: number;
  /** Maps a time of the recording. */
  move: (ms: number) => number;
}

const ISO = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const MILLISECONDS = /\b\d{13}\b/g;
/** Larger numbers are no times. */
const MAX_AHEAD_MS = 10 * 365 * 86_400_000;

export const relocateTime = ({ since, move }: Relocation, ms: number): number =>
  ms >= since && ms <= since + MAX_AHEAD_MS ? Math.round(move(ms)) : ms;

export function relocateText(relocation: Relocation, text: string): string {
  return text
    .replaceAll(relocation.from, relocation.to)
    .replaceAll(ISO, (iso) => {
      const [before, after] = [Date.parse(iso), relocateTime(relocation, Date.parse(iso))];
      return before === after ? iso : new Date(after).toISOString();
    })
    .replaceAll(MILLISECONDS, (digits) => String(relocateTime(relocation, Number(digits))));
}
