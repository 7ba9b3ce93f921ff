import { tableCell } from "../csv.ts";
import { redactPrivate } from "../sql/redact-sql.ts";
import { fenced } from "../sql/sql-document.ts";
import type { DbtNode } from "./dbt-node.ts";

/** Gives the same text for a manifest and for files, as far as both contain the same. */
export function renderDbtNode(node: DbtNode): string {
  const facts = Object.entries({
    Table: node.relation ? `\`${node.relation}\`` : "",
    "Built from": node.dependsOn.map((name) => `\`${name}\``).join(", "),
    Tags: node.tags.join(", "),
    ...node.facts,
  }).filter(([, value]) => value !== "");
  const sections = [
    `# ${node.name}`,
    `A dbt ${node.kind}.`,
    node.description.trim(),
    facts.map(([name, value]) => `- ${name}: ${value.replaceAll("\n", " ")}`).join("\n"),
    section("Columns", columnTable(node)),
    section(
      "Joins",
      node.joins
        .map(
          ({ column, to, toColumn }) =>
            `- \`${node.name}.${column}\` refers to \`${to}.${toColumn}\` (relationships test)`,
        )
        .join("\n"),
    ),
    section("Tests", node.tests.map((test) => `- ${test}`).join("\n")),
    section("SQL", node.sql?.trim() ? fenced(redactPrivate(node.sql)) : ""),
  ];
  return `${sections.filter((part) => part !== "").join("\n\n")}\n`;
}

const section = (heading: string, body: string): string => (body === "" ? "" : `## ${heading}\n\n${body}`);

function columnTable({ columns }: DbtNode): string {
  if (columns.length === 0) return "";
  const row = (cells: readonly string[]) => `| ${cells.map(tableCell).join(" | ")} |`;
  return [
    row(["column", "type", "description", "tests"]),
    row(["---", "---", "---", "---"]),
    ...columns.map(({ name, type, description, tests }) => row([name, type, description, tests.join(", ")])),
  ].join("\n");
}
