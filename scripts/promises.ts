/** A claim of README's section "What you can rely on", word for word, and the tests that try to break it. */
export interface ReadmePromise {
  claim: string;
  /** File and title of each test, as in its source. */
  tests: readonly (readonly [file: string, title: string])[];
}

const ISOLATION = "packages/claude-code/src/isolation.binary.test.ts";
const HOSTILE_SESSION = "packages/claude-code/src/session/hostile-session.binary.test.ts";
const RUNTIME_ERRORS = "packages/runtime/src/contract/verify-errors.ts";
const READ_ONLY = "packages/connectors/src/contract/verify-judge.ts";
const GATE = "packages/claude-code/src/session/gate.test.ts";
const RECOVERY = "packages/sessions/src/actor/recovery.binary.test.ts";
const APPROVALS = "packages/sessions/src/approvals/approvals.binary.test.ts";
const LATE_APPROVAL = "packages/sessions/src/approvals/late-approval.binary.test.ts";
const GUARD = "packages/server/src/http/access/entrance-guard.test.ts";
const CLOSED = "packages/server/src/http/closed-by-default.binary.test.ts";
const INGEST = "apps/cli/src/commands/context/ingest.extended.test.ts";
const SCAN = "packages/context/src/scan/scan.binary.test.ts";
const PROPOSALS = "packages/context/src/proposals/create-proposals.binary.test.ts";
const METRICS = "packages/context/src/metrics/metrics-service.binary.test.ts";
const HUNKS = "packages/context/src/proposals/make-hunks.test.ts";

export const README_PROMISES: readonly ReadmePromise[] = [
  {
    claim: "Nothing acknowledged is lost.",
    tests: [
      [
        "scripts/crash-test.binary.test.ts",
        "Tandem keeps its promises when a server is killed, an answer is lost and two clients answer one approval",
      ],
    ],
  },
  {
    claim: "Each session has one append-only event log.",
    tests: [
      ["packages/storage/src/operations/append-only.test.ts", "no statement changes an event, or removes one alone"],
      ["packages/storage/src/contract/verify-log.ts", "A retried append, whose response was lost, is stored once"],
    ],
  },
  {
    claim: "The server may be killed at any moment; the next one records what happened and continues.",
    tests: [
      [RECOVERY, "is replaced by a server that logs the recovery within seconds and takes the next message"],
      [RECOVERY, "is replaced by a server that resumes the turn"],
      [
        "packages/claude-code/src/session/resumed-turn.binary.test.ts",
        "a turn continues with its message with a missing line before the result of a lost call",
      ],
    ],
  },
  {
    claim: "Approvals fail closed",
    tests: [
      [GATE, "denies if judging throws, before the call or for its edited input"],
      [GATE, "waits for the announcement, and denies a call without one"],
      [GATE, "runs a tool only after its call is durable, and never if it cannot be stored"],
    ],
  },
  {
    claim: "and outlive restarts.",
    tests: [
      [
        "packages/sessions/src/approvals/approvals-killed.extended.test.ts",
        "survives a killed server: the answer lets exactly that call run",
      ],
    ],
  },
  {
    claim: "A call that asks does not run before you allow it.",
    tests: [
      [APPROVALS, "an approval that is denied has no effect, and the model gets the reason"],
      [GATE, "lets only announced and allowed calls pass"],
    ],
  },
  {
    claim: "Once allowed it runs, after days and after a crash too, unless you dismiss it or a rule denies it.",
    tests: [
      [APPROVALS, "releases its process and keeps waiting for days; the answer starts a new process"],
      [
        LATE_APPROVAL,
        "an allowed call runs after a crash: in order, edited calls as edited, and denied or blocked ones never",
      ],
      [
        LATE_APPROVAL,
        "calls that could not start stay allowed in the inbox until they run, are dismissed, or a rule denies them",
      ],
    ],
  },
  {
    claim:
      "Exactly one credential pays, the one you named: a stray key, helper, base URL or header in your settings changes nothing.",
    tests: [
      [
        ISOLATION,
        "the child has exactly one credential; its variables contain neither the secret nor a denied name, and no transcript is left",
      ],
      [HOSTILE_SESSION, "a session uses its own credential, and reads only CLAUDE.md from disk"],
      ["packages/claude-code/src/credentials/precedence.binary.test.ts", "the report says what Claude Code sends: %s"],
    ],
  },
  {
    claim: "No settings, hooks, plugins or memories of your Claude Code home reach the model.",
    tests: [
      [ISOLATION, "a text call offers and sends only itself"],
      [ISOLATION, "a loop offers only its own tools, and runs no other tool that a model requests"],
      [HOSTILE_SESSION, "a session uses its own credential, and reads only CLAUDE.md from disk"],
    ],
  },
  {
    claim:
      "In sessions, your own commands and agents in files do where they are used, and so does the folder's CLAUDE.md, as text (what Claude Code itself adds is little, and listed).",
    tests: [
      [
        "packages/sessions/src/commands/session-commands.binary.test.ts",
        "agent files are subagents: the user's own, and a trusted folder's",
      ],
      [HOSTILE_SESSION, "a session uses its own credential, and reads only CLAUDE.md from disk"],
      [
        HOSTILE_SESSION,
        "uses the login of the given config folder, not of the home, and follows no CLAUDE.md link out of the folder",
      ],
      [ISOLATION, "built-in plugins, skills and agents are not part of the request"],
    ],
  },
  {
    claim:
      "Closed by default: every route of the API needs a token, on loopback too, except a trigger's address, which needs a valid signature.",
    tests: [
      [CLOSED, "(%s) no route can be reached"],
      [CLOSED, "an upgrade is refused like every request"],
      ["packages/server/src/judge/triggers.binary.test.ts", "forged, altered and foreign deliveries are refused alike"],
    ],
  },
  {
    claim: "Foreign pages",
    tests: [[GUARD, "%s are refused"]],
  },
  {
    claim: "and foreign host names are refused,",
    tests: [[GUARD, "%s is refused even with a token: it could be DNS rebinding"]],
  },
  {
    claim: "and so is remote access without TLS or a proxy that you trust.",
    tests: [
      ["packages/server/src/app/start-server.test.ts", "%s is refused unless allowed"],
      ["packages/server/src/app/start-server.test.ts", "a remote address needs TLS or a trusted proxy as well"],
    ],
  },
  {
    claim: "The page has no cookie that a server on another port could use.",
    tests: [
      ["packages/server/src/http/page/sign-in.test.ts", "sets no cookie, and the page reaches the API by signing"],
      [CLOSED, "(%s) no route can be reached"],
      [CLOSED, "sends each signature once"],
    ],
  },
  {
    claim: "No process is left behind, not even by a server that is killed.",
    tests: [
      [
        "packages/claude-code/src/processes/testing/owned-process-suite.ts",
        "after kill -9 of its owner, all descendants end within seconds",
      ],
      [
        "packages/claude-code/src/processes/testing/owned-process-suite.ts",
        "descendants that left the process group end when the program %s",
      ],
      [
        "packages/claude-code/src/processes/process-ledger.extended.test.ts",
        "%s, Claude Code ends at once, and the next start cleans up",
      ],
      [RECOVERY, "no process is left after engines have stopped"],
      [
        "apps/cli/src/commands/server/up.binary.test.ts",
        "after kill -9 the next server starts and ignores the stale server file",
      ],
    ],
  },
  {
    claim: "A model, a Claude Code process or a query that stops answering meets a deadline.",
    tests: [
      ["packages/claude-code/src/session/deadlines.binary.test.ts", "a model %s ends the turn and its process"],
      ["packages/claude-code/src/session/deadlines.binary.test.ts", "a process that is not ready in time is killed"],
      [RUNTIME_ERRORS, "A service that never answers is `timeout`"],
      [RUNTIME_ERRORS, "An answer that stalls is `timeout`"],
      [
        "packages/connectors/src/contract/verify-limits.ts",
        "A slow query ends at its deadline, and the next one works",
      ],
    ],
  },
  {
    claim: "An empty, cut off or off-schema answer to a text or object call is an error, not a success.",
    tests: [
      [RUNTIME_ERRORS, "An empty answer is `empty_answer`"],
      [RUNTIME_ERRORS, "An answer cut at the output limit is `max_tokens`"],
      ["packages/runtime/src/contract/verify-objects.ts", "A second invalid object is `structured_output`"],
    ],
  },
  {
    claim: "Scans, ingest and memory never write the context by themselves: they propose,",
    tests: [
      [SCAN, "a rule that accepts nothing leaves everything for review"],
      [INGEST, "prints progress lines and a summary; a second run calls no model"],
      ["packages/context/src/memory/capture-session.binary.test.ts", "a correction needs a person"],
    ],
  },
  {
    claim: "line by line with evidence,",
    tests: [[HUNKS, "rejects a line without evidence, or with only a model's judgement, and names it"]],
  },
  {
    claim: "and you or your rules accept.",
    tests: [[PROPOSALS, "wait for a person and become a commit that names them"]],
  },
  {
    claim: "No rule accepts a change to a person's line,",
    tests: [
      [PROPOSALS, "are not accepted by rule in quarantine or over a person's lines"],
      [HUNKS, "skips lines that a person changed, and reports it"],
      [
        "packages/context/src/lines/lines.test.ts",
        "loses no line of a person, and applies all edits or reports conflicts",
      ],
    ],
  },
  {
    claim: "a failure overwrites nothing,",
    tests: [
      [SCAN, "a used-up quota keeps descriptions and joins, and the job is not done"],
      [SCAN, "that finds no tables changes nothing and fails"],
    ],
  },
  {
    claim: "and a second run over unchanged sources asks no model at all.",
    tests: [
      [SCAN, "of an unchanged database requests and proposes nothing"],
      [INGEST, "prints progress lines and a summary; a second run calls no model"],
    ],
  },
  {
    claim:
      "A metric counts no row twice: each fact is aggregated at its own grain before facts meet, and a query without a safe answer is refused.",
    tests: [
      ["packages/metrics/src/random-cases.test.ts", "random queries give the numbers that a walk over the rows gives"],
      [METRICS, "of several facts are not multiplied by each other"],
    ],
  },
  {
    claim: "No rule accepts a metric.",
    tests: [
      [
        "packages/context/src/metrics/metric-proposals.binary.test.ts",
        "no rule accepts a metric, and an accepted one can be undone",
      ],
    ],
  },
  {
    claim:
      "Connected databases are only read: the query check rejects writes, and without it the session or the file still does.",
    tests: [
      [READ_ONLY, "Rejects every attempt to write or to reach outside, and changes nothing"],
      [READ_ONLY, "Without the query check, the session or the file still rejects writes"],
    ],
  },
  {
    claim:
      "No telemetry and no update check. A server connects only to the model's API, to addresses that you configure or your programs name in a request, and for a session to hosts that its sandbox allows.",
    tests: [
      [
        "packages/sandbox/src/proxy/egress.test.ts",
        "a host that is not allowed is not resolved, and the refusal says how to allow it",
      ],
      [
        "apps/cli/src/commands/server/up.binary.test.ts",
        "starts without a login in its own home, is found by other commands, and connects to no other machine",
      ],
    ],
  },
  {
    claim: "Claude Code's own telemetry and updates are off.",
    tests: [[ISOLATION, "a text call offers and sends only itself"]],
  },
];
