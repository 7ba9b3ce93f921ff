import type { Config } from "@tandem/protocol";
import type { Hunk } from "./proposal.ts";

export type AcceptRules = Config["context"]["accept"];

/** The rule in tandem.yaml that accepts a hunk; undefined if a person must decide. */
export function ruleFor(hunk: Hunk, rules: AcceptRules): string | undefined {
  if (hunk.held !== undefined) return undefined;
  switch (hunk.aspect) {
    case "structure":
    case "profile":
      return rules.structure === "always" ? "context.accept.structure: always" : undefined;
    case "join":
      return rules.joins === "certain" && hunk.certain ? "context.accept.joins: certain" : undefined;
    case "description":
      return rules.descriptions === "when-empty" && hunk.oldLines.every((line) => line.trim() === "")
        ? "context.accept.descriptions: when-empty"
        : undefined;
    case "wiki":
      return rules.wiki === "always" ? "context.accept.wiki: always" : undefined;
    case "memory":
      return rules.memory === "always" ? "context.accept.memory: always" : undefined;
    // Figures that people decide by depend on it.
    case "metric":
      return undefined;
  }
}
