import type { Approval } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { ClipboardList, MessageCircleQuestion, ShieldQuestion } from "lucide-react";
import { type ReactNode, type RefObject, useLayoutEffect } from "react";
import { summarizeCall, nameOfKind } from "./summarize-call.ts";
import { ApprovalExpiry } from "./approval-expiry.tsx";
import { OutcomeLine } from "./outcome-line.tsx";

const ICONS = { tool: ShieldQuestion, plan: ClipboardList, question: MessageCircleQuestion } as const;

type CardApproval = Pick<Approval, "kind" | "tool" | "input" | "folder"> & Partial<Approval>;

/** Header of a pending approval with its session and expiry; afterwards its outcome. */
export function CardFrame({
  approval,
  card,
  isInline,
  children,
}: {
  approval: CardApproval;
  card: RefObject<HTMLElement | null>;
  isInline: boolean;
  children: ReactNode;
}) {
  const Icon = ICONS[approval.kind];
  const { resolved } = approval;
  useKeptFocus(card);
  const words = summarizeCall(approval);
  return (
    <article
      ref={card}
      tabIndex={-1}
      data-card
      aria-label={`${nameOfKind(approval)}: ${words}`}
      className={`my-2 scroll-my-16 rounded-lg border bg-surface outline-none ${resolved ? "border-line" : "border-wait-mark shadow-float"}`}
    >
      <header
        className={`flex items-center gap-2 rounded-t-lg border-b px-3 py-2 ${resolved ? "border-line" : "border-wait/30 bg-wait-soft"}`}
      >
        <Icon aria-hidden className={`size-4 shrink-0 ${resolved ? "text-ink-faint" : "text-wait"}`} />
        <span className={`shrink-0 font-semibold ${resolved ? "text-ink-soft" : "text-wait"}`}>
          {nameOfKind(approval)}
        </span>
        <span className="min-w-0 flex-1 truncate text-ink-soft" title={words}>
          {approval.kind === "tool" ? (approval.input["description"] as string | undefined) : ""}
        </span>
        {!resolved && <ApprovalExpiry at={approval.expires_at ?? null} />}
      </header>
      <div className="space-y-3 px-3 py-3">
        {!isInline && approval.session_id !== undefined && <Origin approval={approval} />}
        {children}
        {resolved && <OutcomeLine approval={approval} resolved={resolved} />}
      </div>
    </article>
  );
}

function Origin({ approval }: { approval: CardApproval }) {
  return (
    <p className="flex flex-wrap gap-x-2 text-sm text-ink-soft">
      <Link
        to="/sessions/$session"
        params={{ session: approval.session_id! }}
        search={approval.id === undefined ? {} : { part: approval.id }}
        className="font-medium text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
      >
        {approval.session_title ?? "Untitled"}
      </Link>
      <span>{approval.agent_name}</span>
      <span className="font-mono text-xs leading-5 wrap-anywhere">{approval.folder}</span>
    </p>
  );
}

/**
 * Keeps the keyboard's place when an answered card disappears: the focus moves to the next card, the conversation or the
 * page, instead of back to the top of the document.
 */
function useKeptFocus(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (!element?.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return;
        const next = ["article[data-card]", "[role=log]"]
          .map((selector) => document.querySelector<HTMLElement>(`#main ${selector}`))
          .find((found) => found !== null);
        (next ?? document.getElementById("main"))?.focus({ preventScroll: true });
      });
    };
  }, [card]);
}
