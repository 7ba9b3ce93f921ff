import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";

/** A button that copies a text, and says so. */
export function CopyText({ label, text }: { label: string; text: () => string }) {
  const [isDone, setDone] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text()).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    });
  };
  return (
    <Button look="quiet" size="small" onClick={copy}>
      {isDone ? <Check aria-hidden className="size-3.5" /> : <Copy aria-hidden className="size-3.5" />}
      {isDone ? "Copied" : label}
    </Button>
  );
}
