import { type ReactNode, useId } from "react";
import { Button } from "./button.tsx";
import { Dialog, type DialogProps } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/** A dialog with a form and one action; Enter submits. If the action fails, it stays open and shows the error. */
export function FormDialog({
  verb,
  isReady = true,
  action,
  className = "space-y-3",
  children,
  ...rest
}: Omit<DialogProps, "footer"> & {
  verb: ReactNode;
  isReady?: boolean;
  /** A mutation without parameters. */
  action: { isPending: boolean; error: unknown; mutate: () => void };
  className?: string;
}) {
  const form = useId();
  const canSubmit = isReady && !action.isPending;
  return (
    <Dialog
      {...rest}
      footer={
        <>
          <Button onClick={rest.onClose}>Cancel</Button>
          <Button type="submit" form={form} look="primary" disabled={!canSubmit}>
            {verb}
          </Button>
        </>
      }
    >
      <form
        id={form}
        // The server validates, so that every client gets the same messages.
        noValidate
        autoComplete="off"
        className={className}
        onSubmit={(event) => {
          event.preventDefault();
          if (canSubmit) action.mutate();
        }}
      >
        {children}
        <Problem error={action.error} className="col-span-full" />
      </form>
    </Dialog>
  );
}
