import { TandemError } from "@tandem/protocol";

/** Why a definition or a query was refused. */
export type MetricErrorCode =
  /** An expression of a definition cannot be parsed or has wrong types. */
  | "invalid_expression"
  /** A definition refers to a table, key, join or metric that does not exist or is not verified. */
  | "broken_definition"
  /** A query names a metric, dimension or role that does not exist. */
  | "unknown_name"
  /** A query can be understood in several ways. */
  | "ambiguous"
  /** No SQL would give the right numbers, or none is known that does. */
  | "unsafe"
  /** The database's dialect cannot express it. */
  | "unsupported";

export class MetricError extends TandemError {
  declare readonly code: MetricErrorCode;

  constructor(code: MetricErrorCode, message: string, fix?: string) {
    super(code, message, fix === undefined ? {} : { fix });
  }
}

export const invalid = (message: string, fix?: string): MetricError =>
  new MetricError("broken_definition", message, fix);

/** The result, or the reason why it was refused. Throws other errors. */
export function attempt<T>(build: () => T): T | MetricError {
  try {
    return build();
  } catch (error) {
    if (error instanceof MetricError) return error;
    throw error;
  }
}
