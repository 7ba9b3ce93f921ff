import { count } from "../server/report.ts";
import { growthOfEvents, growthOfSessions } from "./growth-of-logs.ts";
import { growthOfTenants } from "./growth-of-tenants.ts";
import { growthOfFolders, growthOfSubscribers } from "./growth-of-use.ts";
import type { Growth } from "./growth.ts";
import type { Stage } from "./stage.ts";

const GROWTHS = [growthOfEvents, growthOfSessions, growthOfSubscribers, growthOfFolders, growthOfTenants];
/** Above noise. Linear growth has the exponent 1. */
const WORSE_THAN_LINEAR = 1.15;

interface Grown {
  growth: Growth;
  /** Of each size. */
  costs: readonly Record<string, number>[];
}

export async function measureGrowth(stage: Stage): Promise<Grown[]> {
  const grown: Grown[] = [];
  for (const growth of GROWTHS) {
    const costs: Record<string, number>[] = [];
    for (const size of growth.sizes) {
      const found = await growth.measure(stage, size);
      const shown = Object.entries(found).map(([name, value]) => `${name} ${show(value)}`);
      console.error(`growth, ${count(size)} ${growth.of}: ${shown.join("; ")}`);
      costs.push(found);
    }
    grown.push({ growth, costs });
  }
  return grown;
}

export function reportGrowth(grown: readonly Grown[]): void {
  if (grown.length === 0) return;
  console.log("\n| growth | cost | at each size | exponent of the last step | |\n|---|---|---|---|---|");
  for (const { growth, costs } of grown) {
    for (const name of Object.keys(costs[0]!)) {
      console.log(
        line(
          growth,
          name,
          costs.map((found) => found[name]!),
        ),
      );
    }
  }
}

function line({ of, sizes }: Growth, name: string, values: readonly number[]): string {
  const [small, large] = [sizes.length - 2, sizes.length - 1];
  const exponent = Math.log(values[large]! / values[small]!) / Math.log(sizes[large]! / sizes[small]!);
  const verdict = exponent > WORSE_THAN_LINEAR ? "**worse than linear**" : "";
  const what = `${sizes.map(count).join(" / ")} ${of}`;
  return `| ${what} | ${name} | ${values.map(show).join(" / ")} | ${exponent.toFixed(2)} | ${verdict} |`;
}

const show = (value: number): string => (value < 10 ? value.toFixed(1) : count(value));
