import { QUESTION_TOOL, type PartOf } from "@tandem/protocol";
import { lazy, type ReactNode, Suspense } from "react";
import { useSession } from "../../state/session-context.ts";

const ApprovalCard = lazy(() =>
  import("../../inbox/approval-card.tsx").then((module) => ({ default: module.ApprovalCard })),
);
const QuestionCard = lazy(() =>
  import("../../inbox/question/question-card.tsx").then((module) => ({ default: module.QuestionCard })),
);

type ToolPart = PartOf<"tool">;

export const isQuestion = ({ kind, name, state }: ToolPart): boolean =>
  kind === "custom" && name === QUESTION_TOOL && state.type === "running";

export const isAsked = ({ permission, state }: ToolPart): boolean =>
  permission?.type === "asked" && state.type === "pending";

/** A pending call with its approval card. While the card's chunk loads, the plain call is shown. */
export function InlineApproval({ part, fallback }: { part: ToolPart; fallback: ReactNode }) {
  const { id } = useSession();
  return (
    <Suspense fallback={fallback}>
      {isQuestion(part) ? (
        <QuestionCard callId={part.id} session={id} input={part.input} />
      ) : (
        <ApprovalCard approvalId={part.id} session={id} isInline />
      )}
    </Suspense>
  );
}

/** An approval known only by its id, such as that of a subagent whose messages are not loaded. */
export function ApprovalById({ approvalId }: { approvalId: string }) {
  const { id } = useSession();
  return (
    <Suspense fallback={null}>
      <ApprovalCard approvalId={approvalId} session={id} />
    </Suspense>
  );
}
