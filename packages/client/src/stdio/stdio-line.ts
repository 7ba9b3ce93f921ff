import { ApiError } from "../api-error.ts";

/** The first line of Tandem. */
export interface Hello {
  protocol: number;
  version: string;
  engine: "own" | "server";
  capabilities: { methods: string[]; streams: string[] };
  limits: { line_bytes: number; requests: number; streams: number };
}

interface LineError {
  type: string;
  message: string;
  fix?: string;
  status: number;
  details?: { error_code?: string };
  request_id?: string;
}

/** A line of Tandem: the first one, an answer, or a part of a stream. */
export interface StdioLine {
  id?: number | null;
  stream?: number;
  hello?: Hello;
  result?: unknown;
  error?: LineError;
  cursor?: string;
  event?: unknown;
  end?: { cursor?: string; error?: LineError };
}

/** Undefined for a truncated line: a Tandem that is killed may stop in the middle of one. */
export function parseLine(text: string): StdioLine | undefined {
  try {
    return JSON.parse(text) as StdioLine;
  } catch {
    return undefined;
  }
}

export const toApiError = ({ status, type, message, fix, details, request_id: requestId }: LineError): ApiError =>
  new ApiError(status, type, message, { code: details?.error_code, fix, requestId });

export const gone = (): ApiError => new ApiError(503, "gone", "Tandem has ended.");
