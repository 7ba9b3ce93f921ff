import { constants } from "node:os";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** One Ctrl-C can arrive twice: from the terminal and from the launcher that forwards it. */
const SAME_MS = 250;

/** Time for running work to stop before the process exits anyway. */
const GRACE_MS = 900;

export interface Interrupt {
  signal: AbortSignal;
  /** 130 after Ctrl-C and so on. Undefined without an interrupt. */
  exitCode(): number | undefined;
  /** Sets the time for running work to stop. */
  allow(graceMs: number): void;
}

/** The first Ctrl-C aborts the signal, a second one exits at once. */
export function catchInterrupts(): Interrupt {
  let graceMs = GRACE_MS;
  const controller = new AbortController();
  let code: number | undefined;
  let first = 0;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (code !== undefined && Date.now() - first < SAME_MS) return;
      if (code !== undefined) process.exit(code);
      first = Date.now();
      code = 128 + constants.signals[name];
      setTimeout(() => process.exit(code), graceMs).unref();
      controller.abort();
    });
  }
  return { signal: controller.signal, exitCode: () => code, allow: (ms) => void (graceMs = ms) };
}
