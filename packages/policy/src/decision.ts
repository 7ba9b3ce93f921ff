import type { Evaluation, Permission, Verdict } from "@tandem/protocol";

/** The outcome of judging a call. `verdict` names the rule, policy or mode that decided. */
export interface Decision {
  permission: Permission;
  evaluation?: Evaluation;
  verdict?: Verdict;
}
