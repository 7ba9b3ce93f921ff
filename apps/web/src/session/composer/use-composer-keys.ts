import { type KeyboardEvent, useRef, useState } from "react";

const ARMED_MS = 1_500;

/** Keys of the message field. Stopping takes two presses of Escape, because one is easily pressed by accident. */
export function useComposerKeys({
  text,
  completion,
  isRunning,
  isAsked,
  send,
  stop,
  history,
  write,
}: {
  text: string;
  completion: { onKey: (event: KeyboardEvent) => boolean };
  isRunning: boolean;
  isAsked: boolean;
  send: (delivery?: "steer") => void;
  stop: () => void;
  history: { go: (step: -1 | 1, text: string) => string | undefined };
  write: (text: string) => void;
}): { onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => void; isStopArmed: boolean } {
  const [isStopArmed, setStopArmed] = useState(false);
  const timer = useRef<number>(undefined);

  const escape = (area: HTMLTextAreaElement): void => {
    // While an approval is pending, the next keys belong to it.
    if (!isRunning || isAsked) return area.blur();
    if (isStopArmed) stop();
    setStopArmed(!isStopArmed);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setStopArmed(false), ARMED_MS);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing) return;
    const area = event.currentTarget;
    const done = (act: () => void): void => {
      event.preventDefault();
      event.stopPropagation();
      act();
    };
    if (completion.onKey(event)) return done(() => undefined);
    if (event.key === "Escape") return done(() => escape(area));
    if (event.key === "Enter" && !event.shiftKey) {
      return done(() => send(event.metaKey || event.ctrlKey ? "steer" : undefined));
    }
    // Up in the first line and down in the last browse the sent messages.
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (step === undefined || event.shiftKey || event.altKey || area.selectionStart !== area.selectionEnd) return;
    const beyond = step === -1 ? text.slice(0, area.selectionStart) : text.slice(area.selectionStart);
    if (beyond.includes("\n")) return;
    const earlier = history.go(step, text);
    if (earlier !== undefined) done(() => write(earlier));
  };
  return { onKeyDown, isStopArmed };
}
