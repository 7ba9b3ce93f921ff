/**
 * The contract of every backend. The suite verifies each entry on each backend and does not compile if one is missing;
 * the reference page lists them. `prevents` names a known bug of similar runtimes.
 */
export const BEHAVIOURS = [
  // Text
  { id: "text.answer", title: "Returns a text answer unchanged" },
  { id: "text.system", title: "Sends the system prompt as system prompt, not as part of the user's prompt" },
  { id: "text.slash", title: "Sends a prompt that starts with / as text, not as a command" },
  { id: "text.thinking", title: "Excludes thinking from the answer" },
  { id: "text.role", title: "Uses a role's own model, or the `default` model if it has none" },
  {
    id: "text.full-ids",
    title: "Passes full model ids unchanged, including new and dated ones",
    prevents: "a list of known models refused new ones",
  },
  { id: "text.empty-prompt", title: "Rejects an empty prompt before anything is sent" },
  { id: "text.tools", title: "Runs tools before a text answer; a retry does not run a tool twice" },
  { id: "text.tools-only", title: "A model that spends its step budget on tools is `empty_answer`" },
  { id: "text.temperature", title: "Sends a temperature, or reports it as ignored; rejects one out of range" },
  { id: "text.together", title: "Keeps open requests within `limits.concurrency`" },

  // Failures
  { id: "error.empty", title: "An empty answer is `empty_answer`" },
  { id: "error.refusal", title: "A refusal is `refused`" },
  { id: "error.max-tokens", title: "An answer cut at the output limit is `max_tokens`" },
  {
    id: "error.prompt-too-long",
    title: "A prompt over the limit is `prompt_too_long`",
    prevents: "it was reported as a broken login",
  },
  { id: "error.unauthorized", title: "A rejected credential (401) is `auth_rejected`" },
  { id: "error.forbidden", title: "A credential without permission (403) is `auth_rejected`" },
  { id: "error.credit", title: "An account without credit is `billing`" },
  { id: "error.unknown-model", title: "An unknown model is `unknown_model`" },
  { id: "error.bad-request", title: "A malformed request is `invalid_request` and is not retried" },
  { id: "error.overloaded", title: "Retries an overload and reports the waits; then it is `overloaded`" },
  { id: "error.overloaded-passes", title: "A passing overload costs one attempt and nothing else" },
  { id: "error.server", title: "Retries a failing service; then it is `server_error`" },
  { id: "error.cut-before", title: "Retries a connection cut before the answer; then it is `network`" },
  { id: "error.cut-within", title: "Retries a connection cut within the answer" },
  { id: "error.malformed", title: "Retries an unreadable answer" },
  { id: "error.overloaded-within", title: "Retries an overload within the answer" },
  { id: "error.stall-before", title: "A service that never answers is `timeout`" },
  { id: "error.stall-within", title: "An answer that stalls is `timeout`" },
  { id: "error.abort", title: "An abort ends the call within a second as `aborted`, and closes the connection" },
  { id: "error.abort-before", title: "A call aborted before its start sends nothing" },
  { id: "error.close", title: "Closing the runtime ends running calls" },

  // Quotas
  { id: "quota.plain", title: "Retries a rate limit without a reset time" },
  { id: "quota.short", title: "Waits for a rate limit of a few seconds" },
  {
    id: "quota.within-patience",
    title: "Waits for a quota that resets within patience, and repeats the call that hit it",
    prevents: "the call that met a limit was never repeated",
  },
  {
    id: "quota.beyond-patience",
    title: "A quota that resets beyond patience fails at once as `rate_limited` with the reset time",
  },

  // Objects
  {
    id: "object.valid",
    title: "A valid object takes one request and is parsed by the caller's schema",
    prevents: "each object took two requests",
  },
  { id: "object.repaired", title: "Returns an invalid object to the model once, with the errors" },
  { id: "object.misfit-twice", title: "A second invalid object is `structured_output`" },
  { id: "object.text-then-object", title: "Text instead of an object counts as an invalid object" },
  { id: "object.text-twice", title: "Text instead of an object, twice, is `structured_output`" },
  { id: "object.tools", title: "Runs tools before an object, which is checked as without tools" },
  { id: "object.tools-only", title: "A model that spends its step budget on tools is `structured_output`" },
  { id: "object.refusal", title: "Refusing to return an object is `refused`" },
  {
    id: "object.bad-schema",
    title: "Rejects a schema without an object at its root, or not expressible as JSON Schema, before anything is sent",
  },

  // Loops
  { id: "loop.natural", title: "A loop ends as `natural` when the model is done" },
  {
    id: "loop.budget",
    title: "A step budget of N makes N requests and N callbacks, runs the last tools, and is `budget`",
    prevents: "a loop at its limit was an error without steps or usage",
  },
  { id: "loop.natural-at-budget", title: "A model that is done in its last step ends as `natural`" },
  { id: "loop.tool-failure", title: "A throwing tool is counted and reported to the model as an error" },
  { id: "loop.bad-input", title: "Invalid tool input is a tool failure, and the tool does not run" },
  { id: "loop.unknown-tool", title: "An unknown tool is a tool failure" },
  { id: "loop.markdown-only", title: "The model sees only the markdown of a tool's output" },
  { id: "loop.parallel", title: "Several tool calls in one answer are one step, and all are answered" },
  { id: "loop.only-ours", title: "Offers only the caller's tools" },
  { id: "loop.thinking", title: "Sends thinking between tool calls back to the model with its signature" },
  { id: "loop.callback-throws", title: "A throwing callback is logged, and the loop continues" },
  { id: "loop.passing-failure", title: "Retries a failure between steps without running a tool twice" },
  {
    id: "loop.nested",
    title: "Tools and callbacks may call the runtime, even with a `limits.concurrency` of 1",
    prevents: "a loop kept its slot while its tools waited for one",
  },
  { id: "loop.error", title: "A failed loop reports its error and keeps its steps and usage" },
  { id: "loop.abort-in-tool", title: "An abort during a tool ends the loop within a second and reaches the tool" },
  { id: "loop.misuse", title: "Rejects an invalid step budget or invalid tools before anything is sent" },

  // Reports
  {
    id: "report.usage",
    title: "Usage has input, output and cache tokens and web searches, by the answering model",
    prevents: "cache tokens were left out",
  },
  { id: "report.once", title: "Counts an answer of many blocks once, and each step of a loop once" },
  { id: "report.cost", title: "Cost is the list price of the usage" },
  { id: "report.unknown-price", title: "A model without a known price has no cost, rather than a wrong one" },
  {
    id: "report.fields",
    title: "Each call makes one report: operation, role, model, backend, payer, latency, waits, attempts",
  },
  { id: "report.broken-off", title: "Counts the usage that an interrupted answer has reported" },
  { id: "report.failure", title: "Reports a failed call once, with its usage" },
] as const satisfies readonly Behaviour[];

export interface Behaviour {
  id: string;
  title: string;
  prevents?: string;
}

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
