import { duration, SESSION_METADATA, type ApprovalNote, type Clock } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import type { JudgedCall, SessionRules } from "@tandem/policy";
import { approvalDiff } from "./approval-diff.ts";

/** Tools of Claude Code whose purpose is to ask a person. No rule can allow them. */
const KINDS: Record<string, ApprovalNote["kind"]> = { ExitPlanMode: "plan", AskUserQuestion: "question" };

type Named = { name: string; mcpServer?: string | undefined };

export const asksPerson = ({ name, mcpServer }: Named): boolean => mcpServer === undefined && name in KINDS;

export const isPlan = ({ name, mcpServer }: Named): boolean => mcpServer === undefined && KINDS[name] === "plan";

/** The details of a call that a person sees when asked to approve it. */
export function approvalNote(
  call: JudgedCall,
  {
    row,
    expire,
    sessionRules,
    clock,
  }: { row: SessionRow; expire: number | undefined; sessionRules: SessionRules | undefined; clock: Clock },
): ApprovalNote {
  const kind = (call.mcpServer === undefined ? KINDS[call.name] : undefined) ?? "tool";
  const { plan } = call.input;
  // A remote path may name another file here.
  const diff = kind === "tool" && !call.isRemote ? approvalDiff(call, row.folder) : undefined;
  const suggestion = kind === "tool" ? sessionRules?.suggest(call) : undefined;
  return {
    kind,
    expires_at: expiryOf(row, kind, expire, clock),
    ...(diff && { diff }),
    ...(kind === "plan" && typeof plan === "string" && { plan }),
    ...(suggestion && { suggestion }),
  };
}

/** The session's own setting takes precedence over the project's. A policy hook's deadline is for calls, not for people. */
function expiryOf(
  { metadata }: SessionRow,
  kind: ApprovalNote["kind"],
  expire: number | undefined,
  clock: Clock,
): string | null {
  const hook = kind === "tool" ? metadata[SESSION_METADATA.policyHook] : undefined;
  const own = hook ?? metadata[SESSION_METADATA.approvalExpiry];
  const ms = own === undefined ? expire : duration.parse(own);
  return ms === undefined ? null : new Date(clock.now() + ms).toISOString();
}
