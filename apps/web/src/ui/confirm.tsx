import type { QueryKey } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { useChange } from "../api/use-change.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/** Confirms an irreversible action. Stays open with the error if the action fails. */
export function Confirm({
  onClose,
  title,
  children,
  verb,
  look = "danger",
  act,
  reloads,
}: {
  onClose: () => void;
  title: ReactNode;
  /** Describes the effect. */
  children: ReactNode;
  verb: string;
  look?: "danger" | "primary";
  act: () => Promise<unknown>;
  /** Queries whose data the action changes. */
  reloads?: QueryKey;
}) {
  const change = useChange(reloads, act, onClose);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Dialog
      onClose={onClose}
      title={title}
      size="narrow"
      onOpenAutoFocus={(event) => {
        event.preventDefault();
        button.current?.focus();
      }}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button ref={button} look={look} disabled={change.isPending} onClick={() => change.mutate()}>
            {verb}
          </Button>
        </>
      }
    >
      <div className="text-ink-soft">{children}</div>
      <Problem error={change.error} className="mt-3" />
    </Dialog>
  );
}
