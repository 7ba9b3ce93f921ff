import { Undo2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { Problem } from "../ui/problem.tsx";
import { AllowedBar } from "./answer/allowed-bar.tsx";
import { AnswerBar } from "./answer/answer-bar.tsx";
import { useAnswer, useApproval } from "./approvals-api.ts";
import { CallBody } from "./call-body.tsx";
import { useHasKeys } from "./card-keys.tsx";
import { CardFrame } from "./card-frame.tsx";
import { undoHint } from "./summarize-call.ts";
import { PlanBar } from "./answer/plan-bar.tsx";
import { questionsOf } from "./question/question-answers.ts";
import { QuestionForm } from "./question/question-form.tsx";
import { VerdictLine } from "./verdict-line.tsx";

/**
 * A pending call, plan or question with the controls to answer it. `hasKeys` enables its shortcuts; in a session only
 * the oldest approval has them.
 */
export function ApprovalCard({
  approvalId,
  session,
  isInline = false,
  hasKeys,
}: {
  approvalId: string;
  session: string;
  isInline?: boolean;
  hasKeys?: boolean;
}) {
  const card = useRef<HTMLElement>(null);
  const isNext = useHasKeys(session, approvalId);
  const { data: approval, error, refetch } = useApproval(approvalId, session);
  const { mutate: answer, isPending: isBusy, error: refused, data: answered } = useAnswer(approvalId);
  useEffect(() => {
    // The button that sent the answer is gone.
    if (answered && document.activeElement === document.body) card.current?.focus({ preventScroll: true });
  }, [answered]);
  if (!approval) return error ? <Problem error={error} onRetry={() => void refetch()} className="my-2" /> : <Loading />;

  const bar = { approval, card, isBusy, onAnswer: answer, hasKeys: hasKeys ?? isNext };
  const isAllowed = approval.state === "allowed";
  const isOpen = approval.status === "pending" && !isAllowed;
  const undo = undoHint(approval);
  // The answer was sent but is not confirmed yet: hide the controls, show no outcome.
  const isAnswered = isOpen && answered !== undefined;
  return (
    <CardFrame approval={approval} card={card} isInline={isInline}>
      {approval.kind !== "question" && <CallBody approval={approval} />}
      {isOpen && approval.kind === "tool" && (
        <div className="space-y-0.5">
          <VerdictLine verdict={approval.verdict} />
          {undo !== undefined && (
            <p className="flex items-center gap-1.5 text-sm text-ink-faint">
              <Undo2 aria-hidden className="size-3.5 shrink-0" /> {undo}
            </p>
          )}
        </div>
      )}
      <Problem error={refused} />
      {isAnswered && <p className="text-sm text-ink-soft">Answered. The agent continues.</p>}
      {isOpen && !isAnswered && (
        <>
          {approval.kind === "tool" && <AnswerBar {...bar} />}
          {approval.kind === "plan" && <PlanBar {...bar} />}
          {approval.kind === "question" && <QuestionForm {...bar} questions={questionsOf(approval.input)} />}
          {isBusy && <p className="sr-only">Sending the answer …</p>}
        </>
      )}
      {isAllowed && answered === undefined && <AllowedBar approval={approval} isBusy={isBusy} onAnswer={answer} />}
      {!isOpen && approval.kind === "question" && (
        <ul className="space-y-1 text-sm text-ink-soft">
          {questionsOf(approval.input).map(({ question }) => (
            <li key={question}>{question}</li>
          ))}
        </ul>
      )}
    </CardFrame>
  );
}

const Loading = () => <div aria-hidden className="my-2 h-36 animate-pulse rounded-lg border border-line bg-surface" />;
