import type { Approval } from "@tandem/protocol";
import { Link } from "@tanstack/react-router";
import { InlineCode } from "../text/inline-code.tsx";
import { ruleText } from "../text/rule-text.ts";

const OF = { user: "yours", project: "project", agent: "agent", session: "session" } as const;

/** Why approval is needed: the rule or another reason. */
export function VerdictLine({ verdict }: { verdict: Approval["verdict"] }) {
  if (!verdict) return null;
  const { rule } = verdict;
  return (
    <p className="text-sm text-ink-soft">
      <InlineCode text={verdict.why} />
      {isOfServer(verdict.why) && (
        <>
          {" "}
          <Link to="/settings/$" params={{ _splat: "mcp" }} className="text-accent underline underline-offset-2">
            See the changes
          </Link>
        </>
      )}
      {rule && (
        <>
          {" "}
          <span className="text-ink-faint">
            Rule <code className="font-mono text-xs text-ink-soft">{ruleText(rule)}</code>, {OF[rule.scope]}, from{" "}
            {rule.source}.
          </span>
        </>
      )}
    </p>
  );
}

/** The tools of an MCP server changed since it was accepted. Settings shows the differences. */
const isOfServer = (why: string): boolean => /^The tools of the MCP server \S+ changed since/.test(why);
