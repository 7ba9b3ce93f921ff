import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";

export interface DialogProps {
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  /** Actions; always visible, also below long content. */
  footer?: ReactNode;
  size?: "narrow" | "normal" | "wide";
  /** By default the first field gets the focus, or else the dialog. */
  onOpenAutoFocus?: (event: Event) => void;
  /** For nested elements that handle Escape themselves. */
  onEscapeKeyDown?: (event: KeyboardEvent) => void;
  children?: ReactNode;
}

const WIDTHS = { narrow: "sm:max-w-md", normal: "sm:max-w-xl", wide: "sm:max-w-4xl" } as const;

/** A modal dialog, open while it is rendered; on a phone a bottom sheet. */
export function Dialog({ onClose, title, description, footer, size = "normal", ...rest }: DialogProps) {
  return (
    <Radix.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-black/40" />
        <Radix.Content
          {...(description === undefined && { "aria-describedby": undefined })}
          onOpenAutoFocus={rest.onOpenAutoFocus ?? focusField}
          {...(rest.onEscapeKeyDown && { onEscapeKeyDown: rest.onEscapeKeyDown })}
          className={`fixed inset-x-0 bottom-0 z-50 flex animate-appear max-h-[92dvh] w-full flex-col rounded-t-xl border border-line bg-surface shadow-float outline-none sm:inset-x-auto sm:top-[10vh] sm:bottom-auto sm:left-1/2 sm:max-h-[80vh] sm:-translate-x-1/2 sm:rounded-xl ${WIDTHS[size]}`}
        >
          <div className="flex items-start gap-3 px-4 pt-3.5 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-sm text-ink-soft">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <Button look="quiet" size="icon" aria-label="Close" className="-mr-1.5 -mt-0.5">
                <X aria-hidden className="size-4" />
              </Button>
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 pb-4">{rest.children}</div>
          {footer !== undefined && (
            <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
              {footer}
            </div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Radix would focus the close button, which comes first in the DOM. */
function focusField(event: Event): void {
  const content = event.currentTarget;
  if (!(content instanceof HTMLElement)) return;
  event.preventDefault();
  (content.querySelector<HTMLElement>("input, textarea, select") ?? content).focus();
}
