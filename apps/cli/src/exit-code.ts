import type { JobRow } from "@tandem/storage";
import type { AuthCheck } from "@tandem/tandem/models";

/** The exit codes, also shown in `tandem --help` and in the reference. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "success" },
  failure: { code: 1, meaning: "other failure; or `tandem doctor` found a failure" },
  usage: { code: 2, meaning: "wrong arguments, invalid or missing tandem.yaml, untrusted folder, invalid schema" },
  auth: { code: 3, meaning: "login or key missing, expired, rejected or without credit" },
  later: { code: 4, meaning: "quota exhausted or service overloaded: try again later" },
  network: { code: 5, meaning: "service unreachable, or timeout" },
  answer: { code: 6, meaning: "unusable model answer: refused, truncated, too long, or not matching the schema" },
  unapproved: { code: 7, meaning: "a tool call needed approval, and there was no terminal to ask on" },
  interrupted: { code: 130, meaning: "Ctrl-C (143 after SIGTERM, 129 after SIGHUP)" },
} as const;

type ExitName = keyof typeof EXIT_CODES;

/** Maps error codes to exits. Any other code is a plain failure. */
const BY_ERROR_CODE: Record<string, ExitName> = {
  usage: "usage",
  bad_request: "usage",
  bad_schema: "usage",
  config_missing: "usage",
  config_invalid: "usage",
  config_unreadable: "usage",
  untrusted_folder: "usage",
  trust_unreadable: "usage",
  not_configured: "usage",
  unknown_model: "usage",
  no_executable: "usage",
  executable_too_old: "usage",
  script_unreadable: "usage",
  recording_unreadable: "usage",
  recording_exists: "usage",
  check_impossible: "usage",
  cassette_unreadable: "usage",
  cassette_damaged: "usage",
  cassette_newer: "usage",
  cassette_not_replayable: "usage",
  case_unreadable: "usage",
  case_invalid: "usage",
  port_taken: "usage",
  port_in_use: "usage",
  bind_refused: "usage",
  bad_location: "usage",
  already_running: "usage",
  invalid_request: "usage",
  forbidden: "usage",
  not_found: "usage",
  too_large: "usage",
  not_supported: "usage",
  connection_refused: "auth",
  connection_failed: "network",
  query_timeout: "network",
  query_refused: "usage",
  token_rejected: "auth",
  unavailable: "network",
  secret_unavailable: "auth",
  not_logged_in: "auth",
  auth_rejected: "auth",
  billing: "auth",
  over_budget: "usage",
  rate_limited: "later",
  overloaded: "later",
  network: "network",
  timeout: "network",
  refused: "answer",
  max_tokens: "answer",
  prompt_too_long: "answer",
  structured_output: "answer",
  empty_answer: "answer",
  aborted: "interrupted",
};

export const exitCodeOf = (errorCode: string): number => EXIT_CODES[BY_ERROR_CODE[errorCode] ?? "failure"].code;

/** 0 for a job that did all its work. */
export function exitCodeOfJob({ state, error }: Pick<JobRow, "state" | "error">): number {
  if (state === "done") return EXIT_CODES.ok.code;
  return error ? exitCodeOf(error.code) : EXIT_CODES.failure.code;
}

const BY_AUTH_STATE: Record<AuthCheck["state"], ExitName> = {
  usable: "ok",
  found: "ok",
  unverified: "ok",
  missing: "auth",
  expired: "auth",
  rejected: "auth",
  unreachable: "network",
  not_configured: "usage",
  untrusted: "usage",
  failed: "failure",
};

/** The exit code of a read-only command: 0 if nothing is known that would make calls fail. */
export const exitCodeOfAuth = ({ state }: AuthCheck): number => EXIT_CODES[BY_AUTH_STATE[state]].code;
