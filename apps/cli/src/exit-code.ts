/** What the process ends with. The same table is in `tandem --help` and in the reference. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  failure: { code: 1, meaning: "it failed, and no line below says it better; or `tandem doctor` found a failure" },
  usage: { code: 2, meaning: "wrong arguments, a wrong or missing tandem.yaml, an untrusted folder, a bad schema" },
  auth: { code: 3, meaning: "the login or key is missing, expired, refused or without credit" },
  later: { code: 4, meaning: "a quota is used up or the service is overloaded: try again later" },
  network: { code: 5, meaning: "the service cannot be reached, or a deadline passed" },
  answer: { code: 6, meaning: "the model's answer is not usable: refused, cut off, too long, or off the schema" },
  interrupted: { code: 130, meaning: "Ctrl-C (143 after SIGTERM, 129 after SIGHUP)" },
} as const;

export type ExitName = keyof typeof EXIT_CODES;

/** By the stable code of the error. What is not listed is a plain failure. */
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
  script_unreadable: "usage",
  recording_unreadable: "usage",
  recording_exists: "usage",
  port_taken: "usage",
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
