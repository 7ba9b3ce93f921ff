import { z } from "zod";
import { printable, type Style } from "../terminal.ts";

/** As the server's log has them, from the least to the most urgent. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const logLine = z.looseObject({ level: z.enum(LOG_LEVELS), time: z.string(), msg: z.string().default("") });

/** One line of the log for people; undefined if it is not one, or less urgent than `level`. */
export function renderLogLine(line: string, level: LogLevel, style: Style): string | undefined {
  const entry = readLogLine(line);
  if (!entry || LOG_LEVELS.indexOf(entry.level) < LOG_LEVELS.indexOf(level)) return undefined;
  const { level: urgency, time, msg, ...rest } = entry;
  const paint = {
    trace: style.dim,
    debug: style.dim,
    info: style.good,
    warn: style.warn,
    error: style.bad,
    fatal: style.bad,
  };
  const details = Object.entries(rest).map(([key, value]) => `${style.dim(`${key}=`)}${shown(value)}`);
  const clock = new Date(time).toTimeString().slice(0, 8);
  return [style.dim(clock), paint[urgency](urgency.padEnd(5)), printable(msg), ...details].filter(Boolean).join(" ");
}

export function readLogLine(line: string): z.output<typeof logLine> | undefined {
  try {
    return logLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

const shown = (value: unknown): string => printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
