import { availableParallelism } from "node:os";
import { join } from "node:path";
import { scratchMachine } from "../../apps/cli/src/testing/run-tandem.ts";
import { watchCommand } from "../scan/watch-command.ts";
import { scaleCases } from "./scale-databases.ts";
import { type Link, linkId } from "./truth.ts";

/** `tandem context joins` on large schemas: time, CPU, memory and F1. Case names as arguments select some. */
export async function run(args: string[]): Promise<void> {
  await using machine = await scratchMachine("{}\n");
  await watchCommand(machine.start(["--version"]));
  console.log(`${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}.\n`);
  console.log("| case | seconds | CPU s | peak RSS MB | accepted | F1 | not compared |\n|---|---|---|---|---|---|---|");
  for (const { name, about, write } of scaleCases.filter((each) => args.length === 0 || args.includes(each.name))) {
    const file = join(machine.project, `${name}.sqlite`);
    const truth = write(file);
    const { seconds, cpuSeconds, treePeakMb, stdout, stderr } = await watchCommand(
      machine.start(["context", "joins", file, "--json"]),
    );
    const found = (JSON.parse(stdout) as (Link & { status: string })[]).filter(({ status }) => status === "accepted");
    const cells = [seconds.toFixed(1), cpuSeconds.toFixed(1), treePeakMb.toFixed(0), found.length];
    const f1 = truth ? f1Of(found, truth).toFixed(3) : "–";
    console.log(`| ${name}: ${about} | ${cells.join(" | ")} | ${f1} | ${notCompared(stderr)} |`);
  }
}

function f1Of(found: readonly Link[], truth: readonly Link[]): number {
  const truths = new Set(truth.map(linkId));
  const hits = found.filter((link) => truths.has(linkId(link))).length;
  return truths.size + found.length === 0 ? 1 : (2 * hits) / (truths.size + found.length);
}

function notCompared(stderr: string): number {
  const line = stderr.split("\n").find((each) => each.includes('"not_compared"'));
  return line === undefined ? 0 : (JSON.parse(line) as { not_compared: { pairs: number } }).not_compared.pairs;
}
