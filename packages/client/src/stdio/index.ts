export { ApiError } from "../api-error.ts";
export type { Hello } from "./stdio-line.ts";
export type { StdioMethod, StdioParams, StdioResult } from "./stdio-params.ts";
export { TandemClient, type StartOptions, type StreamItem } from "./tandem-client.ts";
