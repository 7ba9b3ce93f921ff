import { measureEvals } from "./measure-evals.ts";

/** Scores without a model on the shipped questions. `--missed` lists what was not found. */
export async function run(args: string[]): Promise<void> {
  console.log("| database | questions | gold | proven | recall@10 | values | join paths | other rows on the copy |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const { name, questions, report, proven } of await measureEvals()) {
    const { gold, finds, values, joins, perturbed, discriminating } = report.checks;
    const share = ({ found, wanted }: { found: number; wanted: number }) =>
      `${found}/${wanted} (${(wanted === 0 ? 1 : found / wanted).toFixed(3)})`;
    console.log(
      `| ${name} | ${questions} | ${share(gold)} | ${proven} | ${share(finds)} | ${share(values)} | ${share(joins)} | ${discriminating}/${perturbed.wanted} |`,
    );
    if (!args.includes("--missed")) continue;
    for (const [kind, tally] of Object.entries({ gold, finds, values, joins, perturbed })) {
      for (const { question, message } of tally.missed) console.log(`  ${kind}: ${question}: ${message}`);
    }
  }
}
