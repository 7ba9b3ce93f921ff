import { PAUSING_ERRORS, RequestError, TandemError, type DeploymentRunError } from "@tandem/protocol";

type ErrorType = DeploymentRunError["type"];

/** Errors with a more specific type than their code tells. */
const TYPES: Readonly<Record<string, ErrorType>> = {
  environment_archived: "environment_archived_error",
  environment_not_found: "environment_not_found_error",
  agent_archived: "agent_archived_error",
  file_not_found: "file_not_found_error",
  memory_store_archived: "memory_store_archived_error",
  vault_archived: "vault_archived_error",
  vault_not_found: "vault_not_found_error",
  skill_not_found: "skill_not_found_error",
  quota_reached: "session_rate_limited_error",
};

/** Why a run has no session; undefined if a retry may succeed: the database or a disk is away. */
export function runErrorOf(error: unknown): DeploymentRunError | undefined {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RequestError)) {
    return error instanceof TandemError && error.code === "storage_failed"
      ? undefined
      : { type: "unknown_error", message };
  }
  if (error.code === "unavailable") return undefined;
  const known = error.detail === undefined ? undefined : TYPES[error.detail];
  const other = error.code === "not_found" ? "session_resource_not_found_error" : "session_creation_rejected_error";
  return { type: known ?? other, message };
}

export type PausingError = (typeof PAUSING_ERRORS)[number];

/** Whether the error would come again with each scheduled run. */
export const isPausing = (type: ErrorType): type is PausingError =>
  (PAUSING_ERRORS as readonly ErrorType[]).includes(type);
