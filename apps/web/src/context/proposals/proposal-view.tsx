import { useEffect, useRef, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { ago, formatDateTime } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useComments } from "../../diff/use-comments.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { ChangeCard } from "./change-card.tsx";
import { DecisionCard } from "./decision-card.tsx";
import { type Hunk, useProposal, useVerdict } from "./proposal-api.ts";
import { ProposalComments } from "./proposal-comments.tsx";
import { StateBadge } from "./state-badge.tsx";

/** Reviews a proposal hunk by hunk, each with its evidence. */
export function ProposalView({ id }: { id: string }) {
  const query = useProposal(id);
  const verdict = useVerdict(id);
  const comments = useComments(id);
  const [asking, setAsking] = useState<"accept" | "reject" | "undo">();
  const [isAllShown, setAllShown] = useState(false);
  const root = useRef<HTMLElement>(null);
  const pages = query.data?.pages ?? [];
  const proposal = pages[0];
  const changes = pages.flatMap((page) => page.changes);
  const open = changes.flatMap(({ hunks }) => hunks.filter(({ state }) => state === "open"));
  const held = open.filter((hunk) => hunk.held !== undefined);

  const cards = () => [...(root.current?.querySelectorAll<HTMLElement>("[data-hunk]") ?? [])];
  const current = () => cards().find((card) => card.contains(document.activeElement));
  const step = (by: number) => {
    const all = cards();
    const at = all.indexOf(current()!) + by;
    const next = all[Math.max(0, Math.min(all.length - 1, at))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  const last = useRef(-1);
  const press = (action: string) => () => {
    const card = current();
    last.current = card ? cards().indexOf(card) : -1;
    card?.querySelector<HTMLButtonElement>(`[data-act="${action}"]`)?.click();
  };
  const decidedSoFar = (proposal?.counts.accepted ?? 0) + (proposal?.counts.rejected ?? 0);
  useEffect(() => {
    // A decided hunk may leave the list. Focus the next one, so that a keyboard user can continue.
    if (decidedSoFar === 0 || last.current < 0 || document.activeElement !== document.body) return;
    cards()[Math.min(last.current, cards().length - 1)]?.focus();
  });
  const hasUndo = (proposal?.commits.length ?? 0) > 0;
  useShortcuts("Proposal", {
    n: ["Next change", () => step(1)],
    p: ["The change before", () => step(-1)],
    a: ["Accept this change", press("accept")],
    r: ["Reject this change", press("reject")],
    e: ["Edit this file", press("edit")],
    c: ["Comment on this change", press("comment")],
    "shift+a": ["Accept all that is open", () => open.length > 0 && setAsking("accept")],
    ...(hasUndo && { u: ["Undo what was accepted", () => setAsking("undo")] }),
  });

  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} className="m-4" />;
  if (!proposal) return null;
  const { counts } = proposal;
  const decided = counts.accepted + counts.rejected;
  const isOnlyOpen = counts.open + counts.conflict > 0 && decided > 0 && !isAllShown;
  const isWanted = ({ state }: Hunk) => !isOnlyOpen || state === "open" || state === "conflict";
  const isWhole = !query.hasNextPage;
  return (
    <article ref={root} className="mx-auto max-w-4xl px-4 pb-10 sm:px-6">
      <header className="sticky top-0 z-10 -mx-4 border-b border-line bg-ground px-4 py-3 sm:-mx-6 sm:px-6">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h2 className="min-w-0 text-base font-semibold wrap-anywhere">{proposal.title}</h2>
          <span className="flex flex-wrap gap-1.5">
            <StateBadge proposal={proposal} />
          </span>
          <span className="ml-auto flex flex-wrap items-center gap-2">
            {hasUndo && (
              <Button size="small" look="quiet" onClick={() => setAsking("undo")}>
                Undo
              </Button>
            )}
            {counts.open > 0 && (
              <>
                <Button size="small" onClick={() => setAsking("reject")}>
                  Reject all
                </Button>
                <Button size="small" look="primary" onClick={() => setAsking("accept")}>
                  Accept all <Kbd keys="shift+a" />
                </Button>
              </>
            )}
          </span>
        </div>
      </header>
      <p className="mt-3 text-sm text-ink-soft">
        {proposal.summary}{" "}
        <time dateTime={proposal.created_at} title={formatDateTime(proposal.created_at)}>
          {ago(proposal.created_at)}
        </time>
        {proposal.job !== null && (
          <>
            {" · "}
            <ContextLink path={`jobs/${proposal.job}`} className={linkClass}>
              the job that made it
            </ContextLink>
          </>
        )}
      </p>
      {proposal.quarantine !== null && (
        <p className="mt-3 rounded-md border border-bad bg-bad-soft px-3 py-2 text-sm">
          <strong className="font-medium text-bad">In quarantine.</strong> {proposal.quarantine} No rule accepts it:
          read it as if a stranger had written it.
        </p>
      )}
      {proposal.decisions.length > 0 && (
        <section aria-label="Questions" className="mt-4 space-y-3">
          {proposal.decisions.map((decision) => (
            <DecisionCard key={decision.id} decision={decision} verdict={verdict} />
          ))}
        </section>
      )}
      <Problem error={verdict.error} className="mt-4" />
      {isOnlyOpen && (
        <p className="mt-4 text-sm text-ink-soft">
          {decided} decided already are not shown.{" "}
          <button type="button" className={linkClass} onClick={() => setAllShown(true)}>
            Show all
          </button>
        </p>
      )}
      <div className="mt-4 space-y-4">
        {changes
          .filter(({ hunks }) => hunks.some(isWanted))
          .map((change) => (
            <ChangeCard
              key={change.path}
              change={change}
              hunks={change.hunks.filter(isWanted)}
              verdict={verdict}
              comments={comments}
              isFolded={
                changes.length > 12 && !change.hunks.some(({ state }) => state === "open" || state === "conflict")
              }
            />
          ))}
      </div>
      {!isWhole && (
        <Button className="mt-4" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {query.isFetchingNextPage ? "Reading …" : `More files: ${proposal.files - changes.length} left`}
        </Button>
      )}
      <ProposalComments proposal={proposal} changes={changes} comments={comments} verdict={verdict} />
      <Confirm
        isOpen={asking === "accept"}
        onOpenChange={() => setAsking(undefined)}
        title="Accept what is open?"
        verb={held.length === 0 ? "Accept" : "Accept the others"}
        look="primary"
        act={() =>
          verdict.mutateAsync(
            isWhole && held.length === 0
              ? { action: "accept" }
              : { action: "accept", hunks: open.filter((hunk) => hunk.held === undefined).map((hunk) => hunk.id) },
          )
        }
      >
        {isWhole
          ? `${open.length - held.length} changes become a commit of the context. It can be undone.`
          : `${open.length - held.length} changes in the files that are shown become a commit; those in the others stay open.`}
        {held.length > 0 && (
          <p className="mt-2 text-wait">
            {held.length === 1 ? "One change is" : `${held.length} changes are`} held for a reason and stay open: decide
            about each by itself.
          </p>
        )}
      </Confirm>
      <Confirm
        isOpen={asking === "reject"}
        onOpenChange={() => setAsking(undefined)}
        title="Reject what is open?"
        verb="Reject"
        act={() => verdict.mutateAsync({ action: "reject" })}
      >
        {counts.open === 1 ? "The change that is open is" : `All ${counts.open} changes that are open are`} turned down,
        and the same is not proposed again.
      </Confirm>
      <Confirm
        isOpen={asking === "undo"}
        onOpenChange={() => setAsking(undefined)}
        title="Undo what was accepted?"
        verb="Undo"
        act={() => verdict.mutateAsync({ action: "undo" })}
      >
        What was accepted of this proposal is taken back, as a new commit. Where lines have changed since, nothing is
        done.
      </Confirm>
    </article>
  );
}
