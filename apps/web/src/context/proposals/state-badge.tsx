import { Badge } from "../badge.tsx";
import type { ProposalSummary } from "./proposal-api.ts";

export function StateBadge({ proposal: { state, counts, decisions, quarantine } }: { proposal: ProposalSummary }) {
  const questions = decisions.filter(({ answer }) => answer === null).length;
  return (
    <>
      {quarantine !== null && (
        <Badge look="bad" title={quarantine}>
          quarantine
        </Badge>
      )}
      {counts.conflict > 0 && <Badge look="bad">{counts.conflict} in conflict</Badge>}
      {state === "open" && counts.open > 0 && <Badge look="wait">{counts.open} to decide</Badge>}
      {questions > 0 && <Badge look="wait">{questions === 1 ? "1 question" : `${questions} questions`}</Badge>}
      {state === "accepted" && <Badge look="good">accepted</Badge>}
      {state === "partly" && <Badge look="good">partly accepted</Badge>}
      {state === "rejected" && <Badge>rejected</Badge>}
    </>
  );
}
