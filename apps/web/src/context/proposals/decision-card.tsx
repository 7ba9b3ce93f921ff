import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Badge } from "../badge.tsx";
import { ContextLink } from "../context-link.tsx";
import { pathOfKey } from "../context-route.ts";
import { EvidenceItem } from "../evidence-item.tsx";
import type { Decision, useVerdict } from "./proposal-api.ts";

/** A decision that a diff cannot show: both sides, and a free-text answer. */
export function DecisionCard({ decision, verdict }: { decision: Decision; verdict: ReturnType<typeof useVerdict> }) {
  const [text, setText] = useState("");
  const { id, kind, about, question, sides, answer, answered_by } = decision;
  const path = pathOfKey(about);
  const send = (words: string): void => verdict.mutate({ action: "answer", decision: id, answer: words });
  return (
    <div className={`rounded-lg border bg-surface p-3 ${answer === null ? "border-wait" : "border-line"}`}>
      <div className="flex flex-wrap items-center gap-2">
        <Badge look={answer === null ? "wait" : "plain"}>{kind}</Badge>
        <h3 className="font-medium">{question}</h3>
        {path !== undefined && (
          <ContextLink path={path} className="ml-auto font-mono text-xs text-accent hover:underline">
            {about.slice(about.indexOf(":") + 1)}
          </ContextLink>
        )}
      </div>
      <ul className="mt-2.5 grid gap-2 sm:grid-cols-2">
        {sides.map((side, at) => (
          <li key={at} className="flex flex-col gap-2 rounded-md border border-line bg-ground p-2.5">
            <p>{side.claim}</p>
            <div className="space-y-1.5">
              {side.evidence.map((item, place) => (
                <EvidenceItem key={place} item={item} />
              ))}
            </div>
            {answer === null && (
              <Button
                size="small"
                className="mt-auto self-start"
                disabled={verdict.isPending}
                onClick={() => send(side.claim)}
              >
                This is correct
              </Button>
            )}
          </li>
        ))}
      </ul>
      {answer === null ? (
        <form
          className="mt-2.5 flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== "") send(text.trim());
          }}
        >
          <TextInput
            aria-label={`Answer: ${question}`}
            placeholder="Or type an answer"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" look="primary" disabled={text.trim() === "" || verdict.isPending}>
            Answer
          </Button>
        </form>
      ) : (
        <p className="mt-2.5 text-sm">
          <span className="text-ink-faint">Answered by {answered_by ?? "a user"}:</span> {answer}
        </p>
      )}
    </div>
  );
}
