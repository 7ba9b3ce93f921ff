import { Ellipsis } from "lucide-react";
import { ago, formatDateTime, inDays } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Badge } from "../badge.tsx";
import type { Memory } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";
import { EvidenceItem } from "../evidence-item.tsx";
import { forget, keep, useMemoryChange } from "./memory-api.ts";
import { TimeAgo } from "../../ui/time-ago.tsx";

/** A memory with its scope, expiry and evidence. */
export function MemoryCard({
  memory,
  isChosen = false,
  isBeside = false,
  onForgotten,
}: {
  memory: Memory;
  isChosen?: boolean;
  /** The contradicting memory is shown next to it, so the card leaves it out. */
  isBeside?: boolean;
  onForgotten: (proposal: string | null) => void;
}) {
  const forgetting = useMemoryChange(forget);
  const keeping = useMemoryChange(keep);
  const { id, text, tags, created_at, expires_at, is_expired, sources, contradicts } = memory;
  const forgetNow = async (): Promise<void> => {
    // On success the card is unmounted and the list reports it. An error is shown below.
    const done = await forgetting.mutateAsync(id).catch(() => undefined);
    if (done) onForgotten(done.proposal);
  };
  const hold = (expiresAt: string | null) => () => keeping.mutate({ id, expires_at: expiresAt });
  return (
    <article
      id={id}
      aria-label="Memory"
      className={`h-full rounded-lg border bg-surface px-3.5 py-2.5 ${isChosen ? "border-accent ring-2 ring-accent/30" : "border-line"} ${is_expired ? "opacity-80" : ""}`}
    >
      <div className="flex items-start gap-2">
        <p className="min-w-0 flex-1 whitespace-pre-wrap wrap-anywhere">{text}</p>
        <Menu
          label="Memory"
          items={[
            { label: "Never expire", act: hold(null), isDisabled: expires_at === null },
            { label: "Keep for 90 days", act: hold(inDays(90)) },
            { label: "Keep for a year", act: hold(inDays(365)) },
            "line",
            { label: "Forget", isBad: true, act: () => void forgetNow() },
          ]}
        >
          <Button look="quiet" size="icon" aria-label="Memory actions" className="-mt-1 -mr-2">
            <Ellipsis aria-hidden className="size-4" />
          </Button>
        </Menu>
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-faint">
        <Badge look={memory.scope === "project" ? "plain" : "accent"}>{scopeLabel(memory)}</Badge>
        {tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
        <TimeAgo at={created_at} />
        <span>
          {expires_at === null
            ? "never expires"
            : is_expired
              ? `expired ${ago(expires_at)}`
              : `expires ${formatDateTime(expires_at)}`}
        </span>
      </div>
      {contradicts.length > 0 && !isBeside && (
        <p className="mt-1.5 text-sm">
          <ContextLink path={`memory/${contradicts[0]!}`} className="text-wait underline underline-offset-2">
            Contradicts another memory
          </ContextLink>
        </p>
      )}
      {sources.length > 0 && (
        <ul aria-label="Sources" className="mt-2 space-y-1.5 border-t border-line pt-2">
          {sources.map((item, at) => (
            <li key={at}>
              <EvidenceItem item={item} />
            </li>
          ))}
        </ul>
      )}
      <Problem error={forgetting.error ?? keeping.error} className="mt-2" />
    </article>
  );
}

const scopeLabel = ({ scope, agent, user }: Memory): string =>
  scope === "project" ? "everyone" : scope === "agent" ? `agent ${agent ?? "?"}` : (user ?? "every user");
