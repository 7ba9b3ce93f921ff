import type { KeyboardEvent, RefObject } from "react";
import { CompletionList } from "../../prompt/completion-list.tsx";
import { AttachButton } from "../../prompt/attach-button.tsx";
import { AttachmentList } from "../../prompt/attachment-list.tsx";
import type { useAttachments } from "../../prompt/use-attachments.ts";
import { useDroppedFiles } from "../../prompt/use-dropped-files.ts";
import type { useCompletion } from "../../prompt/use-completion.ts";
import { TextArea } from "../../ui/field.tsx";

/** The first message, with attachments. `/` completes commands of the folder. */
export function PromptField({
  input,
  value,
  onChange,
  completion,
  files: { attachments, add, paste, remove },
}: {
  input: RefObject<HTMLTextAreaElement | null>;
  value: string;
  onChange: (value: string) => void;
  completion: ReturnType<typeof useCompletion>;
  files: Pick<ReturnType<typeof useAttachments>, "attachments" | "add" | "paste" | "remove">;
}) {
  const { id, isOpen, choices, current, choose, onKey, onCaret } = completion;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.nativeEvent.isComposing || !onKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isOver = useDroppedFiles(add);
  return (
    <>
      <div className={`relative rounded-md ${isOver ? "ring-4 ring-accent/20" : ""}`}>
        <TextArea
          ref={input}
          aria-label="Prompt"
          aria-autocomplete="list"
          aria-controls={isOpen ? id : undefined}
          aria-activedescendant={isOpen ? `${id}-${current}` : undefined}
          placeholder={isOver ? "Drop to attach" : "What should the agent do?"}
          onPaste={paste}
          rows={5}
          value={value}
          onChange={(event) => {
            onChange(event.target.value);
            onCaret(event.target.selectionStart, true);
          }}
          onSelect={(event) => onCaret(event.currentTarget.selectionStart, false)}
          onKeyDown={onKeyDown}
          className="block resize-y text-base"
        />
        <div className="absolute right-1.5 bottom-1.5">
          <AttachButton onFiles={add} />
        </div>
        {isOpen && (
          <CompletionList id={id} sign="/" side="below" choices={choices} current={current} onChoose={choose} />
        )}
      </div>
      <AttachmentList attachments={attachments} onRemove={remove} />
    </>
  );
}
