import { tmpdir } from "node:os";
import type { RuleAction } from "@tandem/protocol";
import { applyRules } from "../rules/apply-rules.ts";
import { decideCall } from "../rules/decide-call.ts";
import type { SessionPaths } from "../rules/path-pattern.ts";
import { expandLine } from "../shell/expand-line.ts";
import { compiled } from "./made-up-rules.ts";

/** A path that no test creates, so that no word names an existing file. */
const paths: SessionPaths = { folder: `${tmpdir()}/tandem-no-such-project`, home: "/home/user", foldsCase: false };

/** Rules that refuse `*` after these programs would fail to compile; a line that starts them gets no rule for them. */
const NO_RULE = new Set(["env", "xargs", "exec", "eval", "sudo", "sh", "bash"]);

/**
 * How a line is decided in three settings, each as one letter (`a`llow, `q`uestion, `d`eny): every command is allowed except
 * `rm`; each program of the line is allowed as `PROGRAM *`; the session is in plan mode.
 */
export function judgeOrdinary(command: string): string {
  const call = { name: "Bash", input: { command }, thread: null };
  const programs = new Set(expandLine(command).units.flatMap(({ program }) => program ?? []));
  const named = [...programs].filter((program) => !NO_RULE.has(program));
  const settings = [
    { rules: ["deny Bash(rm)"], policy: "allow", mode: "bypassPermissions" },
    { rules: named.map((program) => `allow Bash(${program} *)`), policy: "ask", mode: "default" },
    { rules: [], policy: "allow", mode: "plan" },
  ] as const;
  return settings
    .map(({ rules, policy, mode }) => {
      const { verdict } = applyRules(compiled(paths, ...rules), call, paths);
      const { permission } = decideCall(call, { policy: { permission: policy }, verdict, mode, paths });
      return LETTERS[permission];
    })
    .join("");
}

const LETTERS: Record<RuleAction, string> = { allow: "a", ask: "q", deny: "d" };
