import { type KeyboardEvent, useId, useState } from "react";
import { completed, completionAt, type CompletionTarget } from "./completion-at.ts";
import { type Choice, type CompletionScope, useSuggestions } from "./use-suggestions.ts";

/** Completes commands and files while typing: suggestions, selection and keys. */
export function useCompletion({
  text,
  place,
  isOff = false,
  write,
}: {
  text: string;
  place: CompletionScope;
  isOff?: boolean;
  write: (text: string, caret: number) => void;
}): {
  id: string;
  isOpen: boolean;
  target: CompletionTarget | undefined;
  choices: readonly Choice[];
  current: number;
  choose: (choice: Choice) => void;
  close: () => void;
  /** Returns whether the key was handled. */
  onKey: (event: KeyboardEvent) => boolean;
  /** To be called after every change of the text or the caret. */
  onCaret: (caret: number, isTyped: boolean) => void;
} {
  const id = useId();
  const [caret, setCaret] = useState(0);
  const [at, setAt] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const target = isClosed || isOff ? undefined : completionAt(text, caret);
  const choices = useSuggestions(place, target);
  const isOpen = target !== undefined && choices.length > 0;
  const current = Math.min(at, choices.length - 1);
  const choose = (choice: Choice): void => {
    if (!target) return;
    const next = completed(text, target, choice.name);
    write(next.text, next.caret);
    setCaret(next.caret);
    setAt(0);
  };
  const move = (step: -1 | 1): void => setAt((current + step + choices.length) % choices.length);
  const onKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (!isOpen) return false;
    if (key === "ArrowDown") move(1);
    else if (key === "ArrowUp") move(-1);
    else if (key === "Escape") setClosed(true);
    else if ((key === "Tab" || (key === "Enter" && !shiftKey)) && choices[current]) choose(choices[current]);
    else return false;
    return true;
  };
  return {
    id,
    isOpen,
    target,
    choices,
    current,
    choose,
    onKey,
    close: () => setClosed(true),
    onCaret: (place, isTyped) => {
      setCaret(place);
      if (!isTyped) return;
      setClosed(false);
      setAt(0);
    },
  };
}
