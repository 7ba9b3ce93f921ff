export { ApiError } from "../api-error.ts";
export type { StdioMethod, StdioParams, StdioResult } from "./stdio-params.ts";
export { TandemClient, type Hello, type StartOptions, type StreamItem } from "./tandem-client.ts";
