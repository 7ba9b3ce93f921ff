import type { HunkGroup } from "@tandem/protocol";
import { useEffect, useRef, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useComments } from "../../diff/use-comments.ts";
import { ContextLink, linkClass } from "../context-link.tsx";
import { ProposalEvals } from "../evals/proposal-evals.tsx";
import { ChangeCard } from "./change-card.tsx";
import { GroupList } from "./group-list.tsx";
import { DecisionCard } from "./decision-card.tsx";
import { type Hunk, useProposal, useVerdict } from "./proposal-api.ts";
import { ProposalComments } from "./proposal-comments.tsx";
import { StateBadge } from "./state-badge.tsx";
import { TimeAgo } from "../../ui/time-ago.tsx";

/** With so few open changes, groups would only repeat the list. */
const FEW = 12;

/** Reviews a proposal hunk by hunk, each with its evidence. */
export function ProposalView({ id }: { id: string }) {
  const [group, setGroup] = useState<HunkGroup>();
  const query = useProposal(id, group);
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
    p: ["Previous change", () => step(-1)],
    a: ["Accept this change", press("accept")],
    r: ["Reject this change", press("reject")],
    e: ["Edit this file", press("edit")],
    c: ["Comment on this change", press("comment")],
    "shift+a": ["Accept all open changes", () => open.length > 0 && group === undefined && setAsking("accept")],
    ...(hasUndo && { u: ["Undo accepted changes", () => setAsking("undo")] }),
  });

  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} className="m-4" />;
  if (!proposal) return null;
  const { counts } = proposal;
  const groups = proposal.groups.filter((each) => each.counts.open > 0);
  const decided = counts.accepted + counts.rejected;
  const isOnlyOpen = counts.open + counts.conflict > 0 && decided > 0 && !isAllShown;
  const isWanted = ({ state }: Hunk) => !isOnlyOpen || state === "open" || state === "conflict";
  const isWhole = !query.hasNextPage;
  return (
    <article ref={root} className="mx-auto max-w-6xl px-4 pb-10 sm:px-6">
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
            {counts.open > 0 && group === undefined && (
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
        {proposal.summary} <TimeAgo at={proposal.created_at} />
        {proposal.job !== null && (
          <>
            {" · "}
            <ContextLink path={`jobs/${proposal.job}`} className={linkClass}>
              source job
            </ContextLink>
          </>
        )}
      </p>
      {proposal.quarantine !== null && (
        <p className="mt-3 rounded-md border border-bad bg-bad-soft px-3 py-2 text-sm">
          <strong className="font-medium text-bad">In quarantine.</strong> {proposal.quarantine} It is never accepted
          automatically. Check it like text from an unknown author.
        </p>
      )}
      {proposal.decisions.length > 0 && (
        <section aria-label="Questions" className="mt-4 space-y-3">
          {proposal.decisions.map((decision) => (
            <DecisionCard key={decision.id} decision={decision} verdict={verdict} />
          ))}
        </section>
      )}
      {counts.open > 0 && <ProposalEvals proposal={proposal.id} />}
      <Problem error={verdict.error} className="mt-4" />
      {groups.length > 1 && (group !== undefined || counts.open > FEW) && (
        <GroupList groups={groups} shown={group} onShow={setGroup} verdict={verdict} />
      )}
      {isOnlyOpen && (
        <p className="mt-4 text-sm text-ink-soft">
          {decided} decided changes are hidden.{" "}
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
          {query.isFetchingNextPage
            ? "Loading …"
            : `More files: ${(group?.files ?? proposal.files) - changes.length} left`}
        </Button>
      )}
      <ProposalComments proposal={proposal} changes={changes} comments={comments} verdict={verdict} />
      {asking === "accept" && (
        <Confirm
          onClose={() => setAsking(undefined)}
          title="Accept all open changes?"
          verb={held.length === 0 ? "Accept" : "Accept the rest"}
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
            ? `${open.length - held.length} changes are committed to the context. You can undo this.`
            : `${open.length - held.length} changes in the files shown here are committed. Changes in other files stay open.`}
          {held.length > 0 && (
            <p className="mt-2 text-wait">
              {held.length === 1 ? "1 change is" : `${held.length} changes are`} on hold and must be decided one by one.
            </p>
          )}
        </Confirm>
      )}
      {asking === "reject" && (
        <Confirm
          onClose={() => setAsking(undefined)}
          title="Reject all open changes?"
          verb="Reject"
          act={() => verdict.mutateAsync({ action: "reject" })}
        >
          {counts.open === 1 ? "The open change is" : `All ${counts.open} open changes are`} rejected and will not be
          proposed again.
        </Confirm>
      )}
      {asking === "undo" && (
        <Confirm
          onClose={() => setAsking(undefined)}
          title="Undo accepted changes?"
          verb="Undo"
          act={() => verdict.mutateAsync({ action: "undo" })}
        >
          The accepted changes of this proposal are reverted in a new commit. Lines that changed since then stay as they
          are.
        </Confirm>
      )}
    </article>
  );
}
