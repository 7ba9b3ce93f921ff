import type { Proposal } from "../proposals/proposal.ts";
import type { Run } from "../runs/job-run.ts";
import { decisionsOf, draftsOf, type FoundMemory } from "./found-memory.ts";
import { Memories } from "./memories.ts";
import type { MemoryParts } from "./memory-parts.ts";
import { correction } from "./memory-tools.ts";
import { rememberStatement } from "./proposed-statements.ts";

/** Name of the rule that accepts literal statements, if enabled. */
const RULE = "memory.capture: on";

/**
 * Creates proposals: literal user statements, statements that need a person because they change or contradict a memory,
 * and a quarantined proposal for everything else.
 */
export async function proposeMemories(
  run: Run,
  { context, store, settings }: MemoryParts,
  all: readonly FoundMemory[],
  { title, summary }: { title: string; summary: string },
): Promise<Proposal[]> {
  const known = await new Memories(context.folder).all();
  // A killed run may have stored some already.
  const found = all.filter(({ id, corrects }) => corrects !== null || !known.some((memory) => memory.id === id));
  const said = found.filter(({ doubt }) => doubt === null);
  const isPlain = ({ corrects, contradicts }: FoundMemory) => corrects === null && contradicts.length === 0;
  const isOn = settings.capture === "on";
  const groups: { found: FoundMemory[]; accept: boolean; quarantine?: string }[] = [
    { found: isOn ? said.filter(isPlain) : [], accept: true },
    { found: isOn ? said.filter((each) => !isPlain(each)) : said, accept: false },
    {
      found: found.filter(({ doubt }) => doubt !== null),
      accept: false,
      quarantine: [...new Set(found.flatMap(({ doubt }) => doubt ?? []))].join(" "),
    },
  ];
  const proposals: Proposal[] = [];
  for (const group of groups) {
    if (group.found.length === 0) continue;
    const made = await context.proposals.propose({
      job: run.job,
      title,
      summary,
      drafts: draftsOf(group.found, known),
      decisions: decisionsOf(group.found, known),
      ...(group.quarantine && { quarantine: group.quarantine }),
    });
    if (!made) continue;
    const proposal = group.accept ? await context.proposals.accept(made.id, { by: RULE }) : made;
    await store.records.write(
      context.id,
      group.found.map((each) => rememberStatement(each.corrects ? correction(each.corrects, each) : each, proposal.id)),
    );
    proposals.push(proposal);
    const { accepted, open } = proposal.counts;
    run.emit({ type: "proposed", proposal: proposal.id, accepted, open });
  }
  return proposals;
}
