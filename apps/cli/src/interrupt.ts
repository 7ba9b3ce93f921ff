import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** How long the work under way may take to stop before the process ends regardless. */
const GRACE_MS = 900;

export interface Interrupt {
  signal: AbortSignal;
  /** 130 after Ctrl-C and so on; undefined while nobody has interrupted. */
  exitCode(): number | undefined;
}

/** The first Ctrl-C asks the work to stop, a second one ends the process at once. */
export function catchInterrupts(): Interrupt {
  const controller = new AbortController();
  let code: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (code !== undefined) process.exit(code);
      code = 128 + constants.signals[name];
      setTimeout(() => process.exit(code), GRACE_MS).unref();
      controller.abort();
    });
  }
  return { signal: controller.signal, exitCode: () => code };
}
