import { type ComponentProps, useEffect, useState } from "react";
import { TextInput } from "../../../ui/field.tsx";

const TYPING_MS = 700;

/** A text field that reports its text when the user pauses or leaves: every report changes the address. */
export function DelayedInput({
  value,
  onCommit,
  ...rest
}: Omit<ComponentProps<"input">, "value" | "onChange"> & { value: string; onCommit: (text: string) => void }) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value);
  }
  const commit = (): void => {
    if (text !== value) onCommit(text);
  };
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(commit, TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <TextInput
      {...rest}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}
