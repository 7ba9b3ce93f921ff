import { GitFailed } from "@tandem/workspace";
import { setTimeout as sleep } from "node:timers/promises";

const TRIES = 20;
const PAUSE_MS = 100;

/** Repeats git commands that fail while another process holds a lock of the repository. */
export async function retryGit<T>(
  work: () => Promise<T>,
  isRace: (error: GitFailed) => boolean = () => true,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GitFailed) || !isRace(error) || tries === TRIES) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
