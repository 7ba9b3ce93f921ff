import { RequestError } from "@tandem/protocol";
import type { ContextFolder } from "../folder/context-folder.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { Proposal } from "./proposal.ts";
import { modelProblems, newProblems } from "../metric-definitions/check-definitions.ts";
import { connectionOf, isMetricsPath } from "../metric-definitions/metrics-path.ts";
import { MetricsReader } from "../metric-definitions/metrics-reader.ts";

/** A dialect in which every kind of column can be a time; the real one is not known here, and decides nothing else. */
const ANY_DIALECT = "sqlite";

/**
 * Refuses to accept hunks of metrics files that need others of the same proposal: a metric without its measure would be
 * listed as broken. The whole proposal passed the gate before, so only a part of it can do that.
 */
export async function refuseBrokenPart(
  folder: ContextFolder,
  { changes }: Proposal,
  chosen: ReadonlySet<string>,
): Promise<void> {
  const concerned = changes.filter(({ path }) => isMetricsPath(path));
  const isChosen = concerned.some(({ hunks }) => hunks.some(({ id }) => chosen.has(id)));
  const whole = new Set(concerned.flatMap(({ hunks }) => hunks.map(({ id }) => id)));
  const left = concerned.some(({ hunks }) => hunks.some(({ id, state }) => state !== "accepted" && !chosen.has(id)));
  if (!isChosen || !left) return;
  for (const connection of new Set(concerned.map(({ path }) => connectionOf(path)))) {
    const reader = new MetricsReader(folder, () => new Map([[connection, ANY_DIALECT]]));
    const problemsWith = async (ids: ReadonlySet<string>) => {
      const texts = new Map<string, string | null>();
      for (const change of concerned.filter(({ path }) => connectionOf(path) === connection)) {
        texts.set(change.path, applyHunks(change, ids, (await folder.read(change.path)) ?? null).text);
      }
      const metrics = await reader.readWithAll(connection, texts);
      return metrics ? modelProblems(metrics) : [];
    };
    const before = await reader.read(connection);
    const known = [...(before ? modelProblems(before) : []), ...(await problemsWith(whole))];
    const [problem] = newProblems(known, await problemsWith(chosen));
    if (!problem) continue;
    throw new RequestError("conflict", `These hunks alone would leave ${problem.path} broken: ${problem.message}`, {
      fix: "Accept the hunks that they need with them, or all hunks of the file.",
    });
  }
}
