import { type Described, measureRetrieval } from "./measure-retrieval.ts";
import { QUESTIONS } from "./questions.ts";

/** Recall of the tables that questions need. `--missed` lists those that were not found. */
export async function run(args: string[]): Promise<void> {
  console.log("| descriptions | questions | tables | recall@10 | MRR |\n|---|---|---|---|---|");
  const lines: string[] = [];
  for (const described of ["filler", "plain"] satisfies Described[]) {
    const { recall, mrr, tables, missed } = await measureRetrieval(QUESTIONS, described);
    console.log(`| ${described} | ${QUESTIONS.length} | ${tables} | ${recall.toFixed(3)} | ${mrr.toFixed(3)} |`);
    lines.push(...missed.map((each) => `${described}: ${each.question} – ${each.tables.join(", ")}`));
  }
  if (args.includes("--missed")) console.log(`\n${lines.join("\n")}`);
}
