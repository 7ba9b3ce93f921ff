import { type StatementVerdict, verdictLine } from "@tandem/protocol";

/** A verdict as Markdown, for a model or a person. */
export function verdictText({ verdict, parts, reason, instead, rewrite }: StatementVerdict): string {
  if (verdict === "proven") return `${verdictLine(verdict)}. No aggregate counts a row twice.`;
  if (verdict === "not_judged") return `${verdictLine(verdict)}. ${reason ?? ""}`.trim();
  return [
    `**${verdictLine(verdict)}**`,
    ...parts.map(({ message }) => `- ${message}`),
    ...(instead ? [`\nAsk for the metric instead: \`metric_query\` with ${JSON.stringify(shortened(instead))}`] : []),
    ...(rewrite === undefined ? [] : [`\nThis counts each row once:\n\n\`\`\`sql\n${rewrite}\n\`\`\``]),
  ].join("\n");
}

/** Without fields that have their defaults. */
const shortened = ({ metrics, by, where }: NonNullable<StatementVerdict["instead"]>): object => ({
  metrics,
  ...(by.length > 0 && { by }),
  ...(where.length > 0 && { where }),
});
