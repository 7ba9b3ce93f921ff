import { MessageSquare, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { TextArea } from "../ui/field.tsx";
import type { LineComment } from "./line-comments.ts";

/** A comment on a line, saved or being edited. */
export function CommentBox({
  comment,
  isNew,
  onSave,
  onDrop,
}: {
  comment: LineComment;
  isNew: boolean;
  onSave: (words: string) => void;
  onDrop: () => void;
}) {
  const [isWriting, setWriting] = useState(isNew);
  const [words, setWords] = useState(comment.words);
  const save = (): void => {
    if (words.trim() === "") return onDrop();
    onSave(words.trim());
    setWriting(false);
  };
  if (!isWriting)
    return (
      <div className="flex max-w-2xl items-start gap-2 rounded-md border border-accent/40 bg-surface px-2.5 py-1.5 text-sm">
        <MessageSquare aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
        <p className="min-w-0 flex-1 whitespace-pre-wrap wrap-anywhere">{comment.words}</p>
        <Button look="quiet" size="icon" aria-label="Edit comment" onClick={() => setWriting(true)}>
          <Pencil aria-hidden className="size-3.5" />
        </Button>
        <Button look="quiet" size="icon" aria-label="Delete comment" onClick={onDrop}>
          <Trash2 aria-hidden className="size-3.5" />
        </Button>
      </div>
    );
  return (
    <div className="max-w-2xl">
      <TextArea
        aria-label={`Comment on line ${comment.line}`}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user picked the line to comment on it
        autoFocus
        rows={Math.min(8, Math.max(2, words.split("\n").length))}
        value={words}
        placeholder="What should change here?"
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
          else if (event.key === "Escape") {
            event.preventDefault();
            if (isNew) onDrop();
            else setWriting(false);
          }
        }}
        className="resize-none text-sm"
      />
      <div className="mt-1 flex gap-2">
        <Button look="primary" size="small" onClick={save}>
          {isNew ? "Add comment" : "Save"}
        </Button>
        <Button look="quiet" size="small" onClick={() => (isNew ? onDrop() : setWriting(false))}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
