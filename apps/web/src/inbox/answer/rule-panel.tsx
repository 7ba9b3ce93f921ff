import type { Approval } from "@tandem/protocol";
import { type FormEvent, useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { Answer } from "../approvals-api.ts";
import { Choice } from "../../ui/choice.tsx";
import { ruleText } from "../../text/rule-text.ts";
import { useEscape } from "./use-escape.ts";
import { TextField } from "../../ui/field.tsx";

const PLACES = ["project", "user", "agent"] as const;

/** Previews the rule that will be saved, and its scope. */
export function RulePanel({
  approval,
  scope,
  isBusy,
  onAnswer,
  onClose,
}: {
  approval: Approval;
  scope: "session" | "always";
  isBusy: boolean;
  onAnswer: (answer: Answer) => void;
  onClose: () => void;
}) {
  const { suggestion, folder, agent_name, tool } = approval;
  const [name, setName] = useState(suggestion?.tool ?? tool);
  const [pattern, setPattern] = useState(suggestion?.pattern ?? "");
  const [place, setPlace] = useState<(typeof PLACES)[number]>("project");
  const group = useId();
  const rule = { tool: name.trim(), ...(pattern.trim() !== "" && { pattern: pattern.trim() }) };
  const isSuggested = suggestion !== undefined && ruleText(rule) === ruleText(suggestion);
  const words = {
    project: ["This project", folder],
    user: ["Everywhere", "all your projects and agents"],
    agent: ["This agent", agent_name],
  } as const;
  useEscape(onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onAnswer({
      result: "allow",
      scope,
      ...(scope === "always" && { save_for: place }),
      ...(!isSuggested && { rule: { ...rule, action: "allow" } }),
    });
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      {suggestion === undefined && (
        <p className="text-sm text-ink-soft">
          No safe rule can be suggested for this call. Write a rule, or allow the call once.
        </p>
      )}
      <div className="grid gap-3 sm:grid-cols-[10rem_minmax(0,1fr)]">
        <TextField label="Tool" required value={name} onChange={setName} />
        <TextField
          label="Calls"
          hint={pattern.trim() === "" ? "All calls of this tool." : "Wildcards: * and **."}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user opened the panel to type here
          autoFocus
          value={pattern}
          onChange={setPattern}
          inputClassName="font-mono text-sm"
        />
      </div>
      {scope === "always" && (
        <fieldset>
          <legend className="mb-1 text-sm font-medium text-ink-soft">Scope</legend>
          <div className="grid gap-1 sm:grid-cols-3">
            {PLACES.map((value) => (
              <Choice
                key={value}
                name={group}
                label={words[value][0]}
                hint={words[value][1]}
                isChosen={place === value}
                onChoose={() => setPlace(value)}
              />
            ))}
          </div>
        </fieldset>
      )}
      <p className="text-sm text-ink-soft">
        <code className="rounded bg-raised px-1 font-mono text-xs text-ink">{ruleText(rule)}</code> runs without asking
        {scope === "session" ? " in this session" : ""}. You can remove the rule under Settings, Rules.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={isBusy || name.trim() === ""}>
          {scope === "session" ? "Allow for this session" : "Save rule and allow"}
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
