import { duration, SESSION_METADATA, type ApprovalNote } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import type { JudgedCall, RuleBook } from "@tandem/policy";
import { approvalDiff } from "./approval-diff.ts";

/** Claude Code's own names of the calls that are made to ask: nobody but a person lets them pass. */
const KINDS: Record<string, ApprovalNote["kind"]> = { ExitPlanMode: "plan", AskUserQuestion: "question" };

type Named = { name: string; mcpServer?: string | undefined };

export const asksPerson = ({ name, mcpServer }: Named): boolean => mcpServer === undefined && name in KINDS;

export const isPlan = ({ name, mcpServer }: Named): boolean => mcpServer === undefined && KINDS[name] === "plan";

/** What a call says of itself to who is asked about it. */
export function approvalNote(
  call: JudgedCall,
  { row, expire, book }: { row: SessionRow; expire: number | undefined; book: RuleBook | undefined },
): ApprovalNote {
  const kind = (call.mcpServer === undefined ? KINDS[call.name] : undefined) ?? "tool";
  const { plan } = call.input;
  const diff = kind === "tool" ? approvalDiff(call, row.folder) : undefined;
  const suggestion = kind === "tool" ? book?.suggest(call) : undefined;
  return {
    kind,
    expires_at: expiryOf(row, expire),
    ...(diff && { diff }),
    ...(kind === "plan" && typeof plan === "string" && { plan }),
    ...(suggestion && { suggestion }),
  };
}

/** By the session's own setting, else the project's. */
function expiryOf({ metadata }: SessionRow, expire: number | undefined): string | null {
  const own = metadata[SESSION_METADATA.approvalExpiry];
  const ms = own === undefined ? expire : duration.parse(own);
  return ms === undefined ? null : new Date(Date.now() + ms).toISOString();
}
