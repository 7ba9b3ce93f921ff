import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { Answer } from "../approvals-api.ts";
import { useEscape } from "./use-escape.ts";
import { TextAreaField } from "../../ui/field.tsx";

/** Denies a call. The agent receives the reason. */
export function DenyPanel({
  kind,
  isBusy,
  onAnswer,
  onClose,
}: {
  kind: "tool" | "plan" | "question";
  isBusy: boolean;
  onAnswer: (answer: Answer) => void;
  onClose: () => void;
}) {
  const [words, setWords] = useState("");
  useEscape(onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const message = words.trim();
    onAnswer({ result: "deny", ...(message !== "" && { message }) });
  };
  const label = {
    tool: "What should the agent do instead?",
    plan: "What should change in the plan?",
    question: "Why do you skip this question?",
  }[kind];
  return (
    <form onSubmit={submit} className="space-y-2">
      <TextAreaField
        label={label}
        hint="Optional. The agent sees this reason."
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user opened the panel to type here
        autoFocus
        rows={Math.min(8, Math.max(2, words.split("\n").length))}
        maxLength={10_000}
        value={words}
        onChange={setWords}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
        inputClassName="resize-none"
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="danger" disabled={isBusy}>
          {kind === "plan" ? "Request changes" : kind === "question" ? "Skip" : "Deny"}
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
