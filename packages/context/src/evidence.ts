import type { Evidence } from "@tandem/protocol";

export { evidence, type Evidence } from "@tandem/protocol";

/** A description for people. */
export function describeEvidence(item: Evidence): string {
  const said = "quote" in item && item.quote ? `: “${item.quote.replaceAll(/\s+/g, " ").trim()}”` : "";
  switch (item.type) {
    case "source":
      return `${item.source}, ${item.citation}${said}`;
    case "database":
      return `${item.connection}, ${item.table}${item.column === undefined ? "" : `.${item.column}`}: ${item.finding}`;
    case "event":
      return `session ${item.session}, event ${item.event}${said}`;
    case "person":
      return `${item.name}, ${item.at.slice(0, 10)}${said || ": in their own words"}`;
    case "agent":
      return `${item.name}, ${item.at.slice(0, 10)}${said || ": an agent's word"}`;
    case "model":
      return `judged by ${item.model} (${item.role})`;
  }
}
