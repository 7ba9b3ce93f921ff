import type { stdio } from "@tandem/protocol";
import { ApiError } from "../api-error.ts";

/** Undefined for a truncated line: a Tandem that is killed may stop in the middle of one. */
export function parseLine(text: string): stdio.StdioLine | undefined {
  try {
    return JSON.parse(text) as stdio.StdioLine;
  } catch {
    return undefined;
  }
}

export const toApiError = ({ status, type, message, fix, details, request_id: requestId }: stdio.LineError): ApiError =>
  new ApiError(status, type, message, { code: details?.error_code, fix, requestId });

export const gone = (): ApiError => new ApiError(503, "gone", "Tandem has ended.");
