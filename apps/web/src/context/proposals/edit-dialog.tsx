import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import type { Change, useVerdict } from "./proposal-api.ts";

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
  const [problem, setProblem] = useState<unknown>();
  const save = async (): Promise<void> => {
    try {
      await verdict.mutateAsync({ action: "edit", path: change.path, after: text });
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="wide"
      title={<span className="font-mono text-sm">{change.path}</span>}
      description="Your text replaces the proposed text. It still needs to be accepted."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={verdict.isPending || text === change.after} onClick={() => void save()}>
            Use my text
          </Button>
        </>
      }
    >
      <TextArea
        aria-label={`Text of ${change.path}`}
        value={text}
        rows={22}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void save();
        }}
        className="resize-y font-mono text-xs leading-relaxed"
      />
      <Problem error={problem} className="mt-2" />
    </Dialog>
  );
}
