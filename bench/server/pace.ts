import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { nowUs } from "./stamp.ts";

/**
 * Calls `emit` at a fixed rate, with the time at which each call was due, so that a late call counts as late. If the process
 * falls behind, it continues as fast as it can, with its other work in between, until the time is over. Returns the number of
 * calls.
 */
export async function pace(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  emit: (number: number, dueUs: number) => void,
): Promise<number> {
  const begun = nowUs();
  const end = begun + seconds * 1_000_000;
  for (let number = 0; ;) {
    const due = begun + (number * 1_000_000) / perSecond;
    const now = nowUs();
    if (due >= end || now >= end + 1_000_000) return number;
    if (due > now) await sleep((due - now) / 1_000);
    else {
      emit(number, due);
      number += 1;
      if (now - due > 1_000_000 / perSecond) await turn();
    }
  }
}
