import { questionInput, type Approval, type Rule } from "@tandem/protocol";
import { describeCall } from "../sessions/describe-call.ts";
import { printable, type Style } from "../terminal.ts";

/** One line that summarizes the request. */
export function summaryOf({ kind, tool, input, plan, folder }: Approval): string {
  if (kind === "plan") return printable((plan ?? "").split("\n").find((line) => line.trim() !== "") ?? "a plan");
  if (kind !== "question") return describeCall({ name: tool, input }, folder);
  const { questions = [] } = questionInput.safeParse(input).data ?? {};
  const [first, ...rest] = questions.map(({ question }) => printable(question));
  return `${first ?? "a question"}${rest.length > 0 ? ` (and ${rest.length} more)` : ""}`;
}

/** A rule with its action: `allow Bash(git *)`. */
export const describeRule = ({ tool, pattern, action }: Rule): string =>
  `${action} ${tool}${pattern === undefined ? "" : `(${pattern})`}`;

/** The tool's display name. */
export function nameOf({ kind, tool, mcp_server_name: server }: Approval): string {
  if (kind !== "tool") return kind === "plan" ? "Plan" : "Question";
  return server ? `${server}.${tool}` : tool;
}

/** The complete request: a user must not approve hidden content. */
export function describeApproval(approval: Approval, style: Style): string[] {
  const { bold, dim, accent } = style;
  const { session_title: title, session_id: session, agent_name: agent, verdict, suggestion } = approval;
  const row = (name: string, value: string) => `${dim(name.padEnd(9))}${value}`;
  return [
    `${bold(printable(nameOf(approval)))}  ${dim(approval.id)}`,
    row("session", `${printable(title ?? session)}${title ? dim(`  ${session}`) : ""}`),
    row("agent", `${printable(agent)}${approval.session_thread_id ? dim("  a subagent") : ""}`),
    row("folder", printable(approval.folder)),
    ...(verdict ? [row("why", printable(verdict.why))] : []),
    ...(approval.expires_at ? [row("expires", approval.expires_at)] : []),
    ...(suggestion && approval.status === "pending" ? [row("rule", accent(printable(describeRule(suggestion))))] : []),
    ...outcome(approval, row),
    ...(approval.resolved && approval.state ? [row("state", approval.state)] : []),
    "",
    ...body(approval, style),
  ];
}

function outcome({ resolved }: Approval, row: (name: string, value: string) => string): string[] {
  if (!resolved) return [];
  const extra = [
    resolved.scope && resolved.scope !== "once" ? `for ${resolved.scope}` : "",
    resolved.edited ? "edited" : "",
    resolved.mode ? `mode ${resolved.mode}` : "",
  ].filter(Boolean);
  return [
    row(
      "answer",
      `${resolved.outcome} by ${printable(resolved.by)}, ${resolved.at}${extra.map((e) => `, ${e}`).join("")}`,
    ),
    ...(resolved.message ? [row("message", printable(resolved.message))] : []),
  ];
}

function body(approval: Approval, style: Style): string[] {
  const { kind, diff, plan, input } = approval;
  if (kind === "plan") return printable(plan ?? "There is no plan.").split("\n");
  if (kind === "question") return questionLines(approval, style);
  if (diff) return [style.bold(printable(diff.path)), ...diffLines(diff, style)];
  const { command, ...rest } = input;
  const lines = typeof command === "string" ? printable(command).split("\n") : [];
  const others = typeof command === "string" ? rest : input;
  return [...lines, ...(Object.keys(others).length > 0 ? printable(JSON.stringify(others, null, 2)).split("\n") : [])];
}

export const diffLines = (diff: NonNullable<Approval["diff"]>, { good, bad, accent }: Style): string[] =>
  diff.hunks.flatMap((hunk) => [
    accent(`@@ -${hunk.old_start},${hunk.old_lines} +${hunk.new_start},${hunk.new_lines} @@`),
    ...hunk.lines.map((line) => {
      const clean = printable(line);
      return line.startsWith("+") ? good(clean) : line.startsWith("-") ? bad(clean) : clean;
    }),
  ]);

function questionLines({ input }: Approval, { bold, dim }: Style): string[] {
  const parsed = questionInput.safeParse(input);
  if (!parsed.success) return printable(JSON.stringify(input, null, 2)).split("\n");
  return parsed.data.questions.flatMap(({ question, header, options, multiSelect }, index) => [
    ...(index > 0 ? [""] : []),
    `${bold(printable(question))}  ${dim([header, multiSelect ? "several" : "one"].filter(Boolean).join(", "))}`,
    ...options.map(
      ({ label, description }) => `  ${printable(label)}${description ? dim(`  ${printable(description)}`) : ""}`,
    ),
  ]);
}
