import type { KeyboardEvent, RefObject } from "react";
import { ChoiceList } from "../../session/composer/choice-list.tsx";
import type { useCompletion } from "../../session/composer/use-completion.ts";
import { TextArea } from "../../ui/field.tsx";

/** What is to be done, in words; `/` names a command of the folder. */
export function PromptField({
  input,
  value,
  onChange,
  completion,
}: {
  input: RefObject<HTMLTextAreaElement | null>;
  value: string;
  onChange: (value: string) => void;
  completion: ReturnType<typeof useCompletion>;
}) {
  const { id, isOpen, choices, current, choose, onKey, onCaret } = completion;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.nativeEvent.isComposing || !onKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="relative">
      <TextArea
        ref={input}
        aria-label="What is to be done"
        aria-autocomplete="list"
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={isOpen ? `${id}-${current}` : undefined}
        placeholder="Say what is to be done"
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
      {isOpen && <ChoiceList id={id} sign="/" side="below" choices={choices} current={current} onChoose={choose} />}
    </div>
  );
}
