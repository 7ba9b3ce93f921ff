import type { StatementVerdict } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { printable, styleFor, write } from "../terminal.ts";

/** Prints a verdict with its reasons and the statement that is right, if one is known. */
export async function writeVerdict(
  stream: Invocation["stdout"],
  { verdict, parts, reason, instead, rewrite }: StatementVerdict,
): Promise<void> {
  const { good, warn, dim } = styleFor(stream);
  const lines = [
    ...(verdict === "proven" ? [`${good("proven")}: No aggregate counts a row twice.`] : []),
    ...(verdict === "not_judged" ? [`${warn("not judged")}: ${printable(reason ?? "")}`] : []),
    ...parts.map(({ kind, message }) => `${warn(kind.replace("_", " "))}: ${printable(message)}`),
    ...(instead ? [dim("The metric instead:"), `tandem metrics query ${metricArguments(instead)}`] : []),
    ...(rewrite === undefined ? [] : [dim("This counts each row once:"), printable(rewrite)]),
  ];
  await write(stream, `${lines.join("\n")}\n`);
}

const metricArguments = ({ metrics, by, where }: NonNullable<StatementVerdict["instead"]>): string =>
  [
    ...metrics,
    ...by.flatMap((field) => ["--by", field]),
    ...where.flatMap((filter) =>
      "op" in filter && "value" in filter ? ["--where", quoted(`${filter.field} ${filter.op} ${filter.value}`)] : [],
    ),
  ].join(" ");

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
