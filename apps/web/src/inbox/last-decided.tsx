import { useEffect, useState } from "react";
import { useApproval } from "./approvals-api.ts";
import { summarizeCall, nameOfKind } from "./summarize-call.ts";
import { OutcomeLine } from "./outcome-line.tsx";

const SHOWN = 3;

interface DecidedApproval {
  id: string;
  session: string;
}

/** The outcome of the approval that just left the list. It may have been decided by another user. */
export function LastDecided({ waiting }: { waiting: readonly DecidedApproval[] }) {
  const [seen, setSeen] = useState(waiting);
  const [left, setLeft] = useState<readonly DecidedApproval[]>([]);
  if (seen !== waiting) {
    const gone = seen.filter(({ id }) => waiting.every((other) => other.id !== id));
    setSeen(waiting);
    if (gone.length > 0)
      setLeft([...gone, ...left.filter(({ id }) => gone.every((one) => one.id !== id))].slice(0, SHOWN));
  }
  if (left.length === 0) return null;
  return (
    <ul aria-label="Just decided" className="mb-3 space-y-1">
      {left.map(({ id, session }) => (
        <LastDecision key={id} id={id} session={session} />
      ))}
    </ul>
  );
}

function LastDecision({ id, session }: DecidedApproval) {
  const { data: approval, refetch } = useApproval(id, session);
  const isOpen = approval?.resolved === null;
  useEffect(() => {
    if (isOpen) void refetch();
  }, [isOpen, refetch]);
  if (!approval?.resolved) return null;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 px-1">
      <OutcomeLine approval={approval} resolved={approval.resolved} />
      <span className="min-w-0 truncate text-sm text-ink-faint">
        {nameOfKind(approval)} <span className="font-mono text-xs">{summarizeCall(approval)}</span>
      </span>
    </li>
  );
}
