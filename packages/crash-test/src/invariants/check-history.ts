import type { History } from "../operation-history.ts";
import { acknowledgedKept } from "./acknowledged-kept.ts";
import { answeredOnce } from "./answered-once.ts";
import { approvalKept } from "./approval-kept.ts";
import { billTrue } from "./bill-true.ts";
import { callStartedOnce } from "./call-started-once.ts";
import { callsClosed } from "./calls-closed.ts";
import { completedHasAnswer } from "./completed-has-answer.ts";
import type { Invariant, Violation } from "./invariant.ts";
import { logAppendOnly } from "./log-append-only.ts";
import { messageOnce } from "./message-once.ts";
import { noProcessLeft } from "./no-process-left.ts";
import { resultTrue } from "./result-true.ts";
import { serverRuns } from "./server-runs.ts";
import { sessionSettles } from "./session-settles.ts";
import { streamMatchesLog } from "./stream-matches-log.ts";

export const INVARIANTS: readonly Invariant[] = [
  acknowledgedKept,
  messageOnce,
  callStartedOnce,
  callsClosed,
  approvalKept,
  answeredOnce,
  sessionSettles,
  noProcessLeft,
  logAppendOnly,
  streamMatchesLog,
  completedHasAnswer,
  resultTrue,
  billTrue,
  serverRuns,
];

export const checkHistory = (history: History): Violation[] =>
  INVARIANTS.flatMap((invariant) =>
    invariant.check(history).map((finding) => ({ invariant: invariant.name, ...finding })),
  );
