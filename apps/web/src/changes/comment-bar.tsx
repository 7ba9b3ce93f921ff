import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { api } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { CommentSummary } from "../diff/comment-summary.tsx";
import { type LineComment, promptOf } from "../diff/line-comments.ts";

/** Sends all line comments to the agent as one message. */
export function CommentBar({
  session,
  comments,
  onSent,
}: {
  session: string;
  comments: readonly LineComment[];
  onSent: () => void;
}) {
  const navigate = useNavigate();
  const prompt = promptOf(comments);
  const send = useMutation({
    mutationFn: () =>
      api.call("sessions.events.send", {
        params: { session_id: session },
        body: { events: [{ type: "user.message", content: [{ type: "text", text: prompt }] }] },
      }),
    onSuccess: () => {
      onSent();
      void navigate({ to: "/sessions/$session", params: { session }, search: {} });
    },
  });
  if (prompt === "") return null;
  return (
    <CommentSummary count={comments.length} prompt={prompt} className="border-t border-line bg-surface px-4 py-2">
      <Button look="primary" className="ml-auto" disabled={send.isPending} onClick={() => send.mutate()}>
        <Send aria-hidden className="size-4" /> Send to agent
      </Button>
      <Problem error={send.error} className="basis-full" />
    </CommentSummary>
  );
}
