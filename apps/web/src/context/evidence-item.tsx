import { Link } from "@tanstack/react-router";
import { Bot, Database, FileText, MessageSquare, Sparkles, User } from "lucide-react";
import type { ReactNode } from "react";
import { formatDateTime } from "../text/format.ts";
import type { Evidence } from "./context-api.ts";
import { ContextLink } from "./context-link.tsx";
import { unwrapLines } from "./unwrap-lines.ts";

const ICONS = { source: FileText, database: Database, event: MessageSquare, person: User, agent: Bot, model: Sparkles };
const link = "text-accent hover:underline wrap-anywhere";

/** One piece of evidence with a link to its source. Quotes are untrusted data and rendered as plain text. */
export function EvidenceItem({ item }: { item: Evidence }) {
  const Icon = ICONS[item.type];
  const quote = "quote" in item ? item.quote : undefined;
  return (
    <div className="flex min-w-0 gap-2 text-sm">
      <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-faint" />
      <div className="min-w-0 flex-1">
        <div className="text-ink-soft">{words(item)}</div>
        {quote !== undefined && quote !== "" && (
          <blockquote className="mt-0.5 border-l-2 border-line pl-2.5 whitespace-pre-line text-ink-soft wrap-anywhere">
            {unwrapLines(quote)}
          </blockquote>
        )}
      </div>
    </div>
  );
}

function words(item: Evidence): ReactNode {
  switch (item.type) {
    case "source":
      return (
        <ContextLink path={`passages/${item.citation}`} className={`font-mono text-xs ${link}`}>
          {item.citation}
        </ContextLink>
      );
    case "database":
      return (
        <>
          <ContextLink path={`tables/${item.connection}/${item.table}`} className={`font-mono text-xs ${link}`}>
            {item.table}
            {item.column === undefined ? "" : `.${item.column}`}
          </ContextLink>{" "}
          {item.finding}
        </>
      );
    case "event":
      return (
        <Link to="/sessions/$session" params={{ session: item.session }} search={{ part: item.event }} className={link}>
          From a session
        </Link>
      );
    case "person":
      return (
        <>
          Added by {item.name}, <time dateTime={item.at}>{formatDateTime(item.at)}</time>
        </>
      );
    case "agent":
      return (
        <>
          Added by the agent {item.name}, <time dateTime={item.at}>{formatDateTime(item.at)}</time>
        </>
      );
    case "model":
      return (
        <>
          Judged by <span className="font-mono text-xs">{item.model}</span> ({item.role})
        </>
      );
  }
}
