import { chaosPlan } from "../../scripts/chaos/chaos-plan.ts";
import { runChaos } from "../../scripts/chaos/chaos-run.ts";

/** `npm run bench chaos [-- SESSIONS [KILLS]]`: the large one; a smaller one is among the tests. */
export async function run([sessions = "200", kills = "120"]: string[]): Promise<void> {
  const plan = chaosPlan({ sessions: Number(sessions), kills: Number(kills) });
  const { problems, logs, ...figures } = await runChaos(plan, (line) => console.error(line));
  console.log(JSON.stringify(figures, null, 2));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error(logs.join("\n"));
  console.log(problems.length === 0 ? "Nothing lost, doubled, stuck or left behind." : `${problems.length} problems.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
