import { type ReactNode, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/** Confirms an irreversible action. Stays open with the error if the action fails. */
export function Confirm({
  isOpen,
  onOpenChange,
  title,
  children,
  verb,
  look = "danger",
  act,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: ReactNode;
  /** Describes the effect. */
  children: ReactNode;
  verb: string;
  look?: "danger" | "primary";
  act: () => Promise<unknown>;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const button = useRef<HTMLButtonElement>(null);
  const go = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      onOpenChange(false);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title={title}
      size="narrow"
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        button.current?.focus();
      }}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button ref={button} look={look} disabled={isBusy} onClick={() => void go()}>
            {verb}
          </Button>
        </>
      }
    >
      <div className="text-ink-soft">{children}</div>
      <Problem error={problem} className="mt-3" />
    </Dialog>
  );
}
