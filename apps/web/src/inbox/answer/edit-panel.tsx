import type { Approval } from "@tandem/protocol";
import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.tsx";
import type { Answer } from "../approvals-api.ts";
import { editedInput, fieldsOf } from "./edited-input.ts";
import { useEscape } from "./use-escape.ts";
import { TextAreaField } from "../../ui/field.tsx";

/** Allows the call with an edited input. */
export function EditPanel({
  approval: { input },
  isBusy,
  onAnswer,
  onClose,
}: {
  approval: Approval;
  isBusy: boolean;
  onAnswer: (answer: Answer) => void;
  onClose: () => void;
}) {
  const [fields, setFields] = useState(() => fieldsOf(input));
  const edited = editedInput(fields);
  useEscape(onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (edited.input) onAnswer({ result: "allow", scope: "once", input: edited.input });
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      {fields.map((field, index) => (
        <TextAreaField
          key={field.key}
          label={field.key.replaceAll("_", " ")}
          problem={edited.wrong === field.key ? "This is not valid JSON." : undefined}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user opened the panel to type here
          autoFocus={index === 0}
          spellCheck={false}
          rows={Math.min(14, field.text.split("\n").length)}
          value={field.text}
          onChange={(text) => setFields(fields.map((other) => (other === field ? { ...field, text } : other)))}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
          }}
          inputClassName="resize-y font-mono text-xs"
        />
      ))}
      <p className="text-xs text-ink-faint">Deny rules still apply. The agent sees the edited input.</p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={isBusy || edited.input === undefined}>
          Allow with this input
        </Button>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
