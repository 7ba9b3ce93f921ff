import { z } from "zod";
import { printable, type Style } from "../terminal.ts";

/** The log levels of the server, in ascending order. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const logLine = z.looseObject({ level: z.enum(LOG_LEVELS), time: z.string(), msg: z.string().default("") });

const requestLine = z.object({ method: z.string(), path: z.string(), status: z.number(), ms: z.number() });

/** Formats a log line. Undefined if it is malformed or below `level`. */
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
  const clock = new Date(time).toTimeString().slice(0, 8);
  return [style.dim(clock), paint[urgency](urgency.padEnd(5)), ...sentence(msg, rest, style)].filter(Boolean).join(" ");
}

/** Requests are shortened, because there are many. Other entries are complete. */
function sentence(msg: string, rest: Record<string, unknown>, style: Style): string[] {
  const request = requestLine.safeParse(rest);
  if (msg === "request" && request.success) {
    const { method, path, status, ms } = request.data;
    const paint = status < 400 ? style.dim : style.warn;
    return [method.padEnd(6), printable(path), paint(String(status)), style.dim(`${ms} ms`)];
  }
  return [
    printable(msg),
    ...Object.entries(rest).map(([key, value]) => `${style.dim(`${key}=`)}${formatField(value)}`),
  ];
}

export function readLogLine(line: string): z.output<typeof logLine> | undefined {
  try {
    return logLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

const formatField = (value: unknown): string =>
  printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
