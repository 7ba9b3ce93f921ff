/**
 * What every backend does alike. Each entry is verified on every backend by the contract suite, which fails to compile
 * if one is left out; the reference page lists them. `mends` says which known fault of runtimes of this kind it rules out.
 */
export const BEHAVIOURS = [
  // Text
  { id: "text.answer", title: "A text answer comes back as it was given" },
  { id: "text.system", title: "The system prompt is sent as the system prompt, and not with the user's" },
  { id: "text.slash", title: "A prompt that begins with / is sent, not run as a command" },
  { id: "text.thinking", title: "What the model thinks is no part of its answer" },
  { id: "text.role", title: "A role asks its own model, and that of `default` where it has none" },
  {
    id: "text.full-ids",
    title: "Full model ids reach the service as they are, new and dated ones too",
    mends: "a list of known models refused new ones",
  },
  { id: "text.empty-prompt", title: "An empty prompt is refused before anything is sent" },
  { id: "text.together", title: "No more requests are open at once than `limits.concurrency`" },

  // Failures
  { id: "error.empty", title: "An empty answer is `empty_answer`" },
  { id: "error.refusal", title: "A refusal is `refused`" },
  { id: "error.max-tokens", title: "An answer cut at the output limit is `max_tokens`" },
  {
    id: "error.prompt-too-long",
    title: "A prompt that is too long is `prompt_too_long`",
    mends: "it was reported as a broken login",
  },
  { id: "error.unauthorized", title: "A refused credential (401) is `auth_rejected`" },
  { id: "error.forbidden", title: "A credential without the right (403) is `auth_rejected`" },
  { id: "error.credit", title: "An account without credit is `billing`" },
  { id: "error.unknown-model", title: "A model that the service does not know is `unknown_model`" },
  { id: "error.bad-request", title: "A malformed request is `invalid_request` and is not repeated" },
  { id: "error.overloaded", title: "An overload is tried again, with the waits shown, then is `overloaded`" },
  { id: "error.overloaded-passes", title: "An overload that passes costs an attempt and nothing else" },
  { id: "error.server", title: "A failing service is tried again, then is `server_error`" },
  { id: "error.cut-before", title: "A connection cut before the answer is tried again, then is `network`" },
  { id: "error.cut-within", title: "A connection cut within the answer is tried again" },
  { id: "error.malformed", title: "An answer that cannot be read is asked for again" },
  { id: "error.overloaded-within", title: "An overload within the answer is tried again" },
  { id: "error.stall-before", title: "A service that never answers is `timeout`" },
  { id: "error.stall-within", title: "An answer that stops coming is `timeout`" },
  { id: "error.abort", title: "An abort ends the call within a second as `aborted`, and hangs up" },
  { id: "error.abort-before", title: "A call that is aborted before it begins sends nothing" },
  { id: "error.close", title: "Closing the runtime ends what is under way" },

  // Quotas
  { id: "quota.plain", title: "A rate limit without a reset time is tried again" },
  { id: "quota.short", title: "A rate limit of a few seconds is waited for" },
  {
    id: "quota.within-patience",
    title: "A quota that resets within patience is waited for, and the call that met it is repeated",
    mends: "the call that met a limit was never repeated",
  },
  {
    id: "quota.beyond-patience",
    title: "A quota that resets beyond patience fails at once as `rate_limited` with the time of the reset",
  },

  // Objects
  {
    id: "object.valid",
    title: "An object that fits takes one request, and comes back parsed by the caller's schema",
    mends: "each object took two requests",
  },
  { id: "object.repaired", title: "An object that does not fit is given back to the model once, with what is wrong" },
  { id: "object.misfit-twice", title: "A second object that does not fit is `structured_output`" },
  { id: "object.text-then-object", title: "Text instead of an object counts as a misfit" },
  { id: "object.text-twice", title: "Text twice instead of an object is `structured_output`" },
  { id: "object.refusal", title: "A refusal to give an object is `refused`" },
  { id: "object.bad-schema", title: "A schema that is no object, or no JSON, is refused before anything is sent" },

  // Loops
  { id: "loop.natural", title: "A loop ends as `natural` when the model is done" },
  {
    id: "loop.budget",
    title: "A step budget of N makes N requests and N callbacks, runs the last tools, and is `budget`",
    mends: "a loop at its limit was an error without steps or usage",
  },
  { id: "loop.natural-at-budget", title: "A model that is done with its last step ended as `natural`" },
  { id: "loop.tool-failure", title: "A tool that throws is counted, and told to the model as an error" },
  {
    id: "loop.bad-input",
    title: "Input that does not fit a tool's schema is a tool failure, and the tool does not run",
  },
  { id: "loop.unknown-tool", title: "A tool that does not exist is a tool failure" },
  { id: "loop.markdown-only", title: "The model sees a tool's markdown and nothing else of its output" },
  { id: "loop.parallel", title: "Several tool calls of one answer are one step, and all are answered" },
  { id: "loop.only-ours", title: "No tools are offered but the caller's" },
  { id: "loop.thinking", title: "Thoughts between tool calls go back to the model with their signature" },
  { id: "loop.callback-throws", title: "A callback that throws is logged, and the loop goes on" },
  { id: "loop.passing-failure", title: "A failure between steps is tried again, and no tool runs twice" },
  {
    id: "loop.nested",
    title: "Tools and callbacks may call the runtime themselves, even at a `limits.concurrency` of 1",
    mends: "a loop kept its slot while its tools waited for one",
  },
  { id: "loop.error", title: "A loop that fails says why, and keeps its steps and usage" },
  { id: "loop.abort-in-tool", title: "An abort while a tool runs ends the loop within a second, and reaches the tool" },
  { id: "loop.misuse", title: "A step budget or tools that cannot be used are refused before anything is sent" },

  // Reports
  {
    id: "report.usage",
    title: "Usage has input, output and cache tokens and web searches, by the model that answered",
    mends: "cache tokens were left out",
  },
  { id: "report.once", title: "An answer of many blocks is counted once, and so is each step of a loop" },
  { id: "report.cost", title: "Cost is the list price of what was used" },
  { id: "report.unknown-price", title: "A model without a known price has no cost rather than a wrong one" },
  {
    id: "report.fields",
    title: "Each call makes one report: operation, role, model, backend, payer, latency, waits, attempts",
  },
  { id: "report.broken-off", title: "What an answer that broke off had already told of its usage is counted" },
  { id: "report.failure", title: "A failed call is reported once, too, with what it used" },
] as const satisfies readonly Behaviour[];

export interface Behaviour {
  id: string;
  title: string;
  mends?: string;
}

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
