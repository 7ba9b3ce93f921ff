import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { api, ApiError } from "../../api/client.ts";
import { Problem } from "../../ui/problem.tsx";
import { type Answer, useApproval } from "../approvals-api.ts";
import { ApprovalCard } from "../approval-card.tsx";
import { useHasKeys } from "../card-keys.tsx";
import { CardFrame } from "../card-frame.tsx";
import { questionsOf } from "./question-answers.ts";
import { QuestionForm } from "./question-form.tsx";

/** A question of the agent, inside its session. */
export function QuestionCard({ callId, session, input }: { callId: string; session: string; input: unknown }) {
  const { error } = useApproval(callId, session);
  // An agent can define its own tool of this name. It is no approval then, and is answered like any custom tool.
  const isOwnTool = error instanceof ApiError && error.status === 404;
  if (isOwnTool && questionsOf(input).length > 0)
    return <CustomToolQuestion callId={callId} session={session} input={input as Record<string, unknown>} />;
  return <ApprovalCard approvalId={callId} session={session} isInline />;
}

function CustomToolQuestion({
  callId,
  session,
  input,
}: {
  callId: string;
  session: string;
  input: Record<string, unknown>;
}) {
  const card = useRef<HTMLElement>(null);
  const hasKeys = useHasKeys(session, callId);
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ result, input: given, message }: Answer) =>
      api.call("sessions.events.send", {
        params: { session_id: session },
        body: {
          events: [
            {
              type: "user.custom_tool_result",
              custom_tool_use_id: callId,
              content: [
                {
                  type: "text",
                  text: result === "allow" ? JSON.stringify(given) : (message ?? "The user skipped this question."),
                },
              ],
              ...(result === "deny" && { is_error: true }),
            },
          ],
        },
      }),
  });
  return (
    <CardFrame approval={{ kind: "question", tool: "ask_user_question", input, folder: "" }} card={card} isInline>
      <Problem error={error} />
      <QuestionForm questions={questionsOf(input)} card={card} hasKeys={hasKeys} isBusy={isPending} onAnswer={mutate} />
    </CardFrame>
  );
}
