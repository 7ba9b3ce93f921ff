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
      return said === ""
        ? `added by ${item.name}, ${item.at.slice(0, 10)}`
        : `${item.name}, ${item.at.slice(0, 10)}${said}`;
    case "agent":
      return said === ""
        ? `added by agent ${item.name}, ${item.at.slice(0, 10)}`
        : `${item.name}, ${item.at.slice(0, 10)}${said}`;
    case "model":
      return `judged by ${item.model} (${item.role})`;
  }
}
