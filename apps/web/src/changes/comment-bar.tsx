import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { api } from "../api/client.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { type LineComment, promptOf } from "./line-comments.ts";

/** What was said about lines, on its way to the agent as one message. */
export function CommentBar({
  session,
  comments,
  onSent,
}: {
  session: string;
  comments: readonly LineComment[];
  onSent: () => void;
}) {
  const [isShown, setShown] = useState(false);
  const navigate = useNavigate();
  const prompt = promptOf(comments);
  const send = useMutation({
    mutationFn: () =>
      api.post(`/v1/sessions/${session}/events`, {
        events: [{ type: "user.message", content: [{ type: "text", text: prompt }] }],
      }),
    onSuccess: () => {
      onSent();
      void navigate({ to: "/sessions/$session", params: { session }, search: {} });
    },
  });
  if (prompt === "") return null;
  return (
    <section aria-label="Comments" className="border-t border-line bg-surface px-4 py-2">
      {isShown && (
        <pre className="mb-2 max-h-60 overflow-auto rounded-md bg-raised px-3 py-2 font-mono text-xs whitespace-pre-wrap">
          {prompt}
        </pre>
      )}
      <Problem error={send.error} className="mb-2" />
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-sm">
          {comments.length} {comments.length === 1 ? "comment" : "comments"}
        </span>
        <Button look="quiet" size="small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide" : "Show"} the message
        </Button>
        <Button look="primary" className="ml-auto" disabled={send.isPending} onClick={() => send.mutate()}>
          <Send aria-hidden className="size-4" /> Send to the agent
        </Button>
      </div>
    </section>
  );
}
