import { pino, type DestinationStream, type Logger } from "pino";
import { redactLine } from "./redact.ts";

export type { Logger } from "pino";

/** A JSON lines logger that redacts credentials in every line. */
export function createLogger({
  level = "info",
  destination,
}: { level?: string; destination?: DestinationStream } = {}): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redactLine },
  };
  return destination ? pino(options, destination) : pino(options);
}
