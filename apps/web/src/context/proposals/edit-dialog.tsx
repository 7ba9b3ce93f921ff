import { useState } from "react";
import { TextArea } from "../../ui/field.tsx";
import type { Change, useVerdict } from "./proposal-api.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";

/** Replaces the proposed text of a file by the user's own. */
export function EditDialog({
  change,
  verdict,
  onClose,
}: {
  change: Change;
  verdict: ReturnType<typeof useVerdict>;
  onClose: () => void;
}) {
  const [text, setText] = useState(change.after ?? "");
  const save = useChange(
    undefined,
    () => verdict.mutateAsync({ action: "edit", path: change.path, after: text }),
    onClose,
  );
  const isReady = text !== change.after;
  return (
    <FormDialog
      onClose={onClose}
      size="wide"
      title={<span className="font-mono text-sm">{change.path}</span>}
      description="Your text replaces the proposed text. It still needs to be accepted."
      verb="Use my text"
      isReady={isReady}
      action={save}
    >
      <TextArea
        aria-label={`Text of ${change.path}`}
        value={text}
        rows={22}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && isReady) save.mutate();
        }}
        className="resize-y font-mono text-xs leading-relaxed"
      />
    </FormDialog>
  );
}
