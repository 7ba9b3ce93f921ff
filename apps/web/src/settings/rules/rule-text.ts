import type { Rule, RuleAction } from "@tandem/protocol";
import type { Tone } from "../panel.tsx";

export const ACTION_TONES: Readonly<Record<RuleAction, Tone>> = { allow: "good", ask: "wait", deny: "bad" };

export const ruleText = ({ tool, pattern }: Pick<Rule, "tool" | "pattern">): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;
