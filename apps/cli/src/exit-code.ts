import type { AuthCheck } from "@tandem/tandem/models";

/** The exit codes, also shown in `tandem --help` and in the reference. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  failure: { code: 1, meaning: "it failed, and no line below says it better; or `tandem doctor` found a failure" },
  usage: { code: 2, meaning: "wrong arguments, a wrong or missing tandem.yaml, an untrusted folder, a bad schema" },
  auth: { code: 3, meaning: "the login or key is missing, expired, refused or without credit" },
  later: { code: 4, meaning: "a quota is used up or the service is overloaded: try again later" },
  network: { code: 5, meaning: "the service cannot be reached, or a deadline passed" },
  answer: { code: 6, meaning: "the model's answer is not usable: refused, cut off, too long, or off the schema" },
  unapproved: { code: 7, meaning: "a tool call needed an approval, and there was nobody to ask" },
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
