import { newId, RequestError } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { hashOf } from "../hash-of.ts";
import type { ContextFolder } from "../folder/context-folder.ts";
import { type AcceptRules, ruleFor } from "./accept-rules.ts";
import { withHunks } from "./apply-hunks.ts";
import { commitHunks } from "./commit-hunks.ts";
import { editedChange } from "./edited-change.ts";
import { describeFilter, hunkMatcher } from "./hunk-filter.ts";
import { groupHunks } from "./hunk-groups.ts";
import { METRICS_PREFIX } from "../metric-definitions/metrics-path.ts";
import { refuseBrokenPart } from "./refuse-broken-part.ts";
import type { Change, Hunk, Proposal } from "./proposal.ts";
import {
  forgetOpen,
  type Loaded,
  ProposalRecords,
  rememberOpen,
  rememberProposed,
  rememberRejected,
} from "./proposal-records.ts";
import type { HunkChoice, Proposals } from "./proposals.ts";
import { type DraftedChange, readDrafts } from "./read-drafts.ts";
import { rememberRejectedPassages } from "./rejected-passages.ts";

/** Actor of decisions by rule. */
const RULE = "rule";
/** Number of recent commits searched after a crash. */
const RECENT = 200;

export interface ProposalParts {
  folder: ContextFolder;
  store: Pick<Store, "records">;
  space: string;
  accept: AcceptRules;
  now?: () => Date;
}

export function createProposals({ folder, store, space, accept, now = () => new Date() }: ProposalParts): Proposals {
  const records = new ProposalRecords(store.records, space);
  const time = () => now().toISOString();

  /** Serialises decisions; each sees the current proposal with all earlier decisions applied. */
  const decide = (id: string, work: (loaded: Loaded) => Promise<Proposal>): Promise<Proposal> =>
    folder.exclusive(async () => {
      const loaded = await records.load(id);
      if (!loaded) throw new RequestError("not_found", `There is no proposal ${id}.`, { fix: "List them." });
      return work(loaded.applying ? await apply(loaded, true) : loaded);
    });

  const settledProposal = (id: string) => decide(id, async ({ proposal }) => proposal);

  /** Executes `applying`. On a retry (`isRetry`), already applied hunks are not applied twice. */
  async function apply(loaded: Loaded, isRetry = false): Promise<Loaded> {
    const { proposal, applying } = loaded;
    const { hunks, by, notes } = applying!;
    const chosen = new Set(hunks);
    const earlier = isRetry ? await commitsOf(proposal) : [];
    const applied = await commitHunks(folder, proposal, chosen, by);
    const isRule = by === RULE;
    const settled = mapHunks(proposal, (hunk): Hunk => {
      const outcome = applied.outcomes.get(hunk.id);
      if (!outcome) return hunk;
      const decided = { ...hunk, decidedBy: by, decidedAt: time() };
      if (outcome.state === "accepted") {
        return { ...decided, state: "accepted", note: notes[hunk.id], commit: outcome.commit ?? earlier[0] };
      }
      // A conflict is no decision of a rule or a filter; leave the hunk open.
      return isRule || notes[hunk.id] !== undefined
        ? { ...hunk, note: outcome.note }
        : { ...decided, state: "conflict", note: outcome.note };
    });
    const commits = [...proposal.commits, ...earlier, ...applied.commits];
    const further = allHunks(settled)
      .filter(({ id }) => chosen.has(id))
      .flatMap((hunk) =>
        hunk.state === "accepted" ? (isRule ? [] : [forgetOpen(hunk)]) : [rememberOpen(hunk, proposal.id)],
      );
    return records.save(
      { ...loaded, proposal: { ...settled, commits, updatedAt: time() }, applying: null },
      // A crash in between leaves `applying`, and the next process completes it.
      { further, paths: pathsWith(settled, chosen), inParts: true },
    );
  }

  /** Commits of this proposal that it does not list yet. */
  async function commitsOf({ id, commits }: Proposal): Promise<string[]> {
    const log = await folder.log(RECENT);
    return log
      .filter(({ proposal, commit }) => proposal === id && !commits.includes(commit))
      .map(({ commit }) => commit);
  }

  async function accepting(
    loaded: Loaded,
    hunks: readonly Hunk[],
    by: string,
    notes: Record<string, string> = {},
  ): Promise<Loaded> {
    if (hunks.length === 0) return loaded;
    const applying = { hunks: hunks.map(({ id }) => id), by, notes };
    return apply(await records.save({ ...loaded, applying }, { paths: new Set() }));
  }

  /** Hunks that a rule accepts. A rule never replaces a person's lines. */
  async function byRule(proposal: Proposal): Promise<Map<string, string>> {
    const rules = new Map<string, string>();
    if (proposal.quarantine !== null) return rules;
    const candidates = proposal.changes.flatMap(({ path, hunks }) =>
      hunks.flatMap((hunk) => {
        // A person decides about every line of a metrics file, whatever its draft calls the line.
        const rule = path.startsWith(METRICS_PREFIX) ? undefined : ruleFor(hunk, accept);
        return rule === undefined ? [] : [{ path, hunk, rule }];
      }),
    );
    const replacing = candidates.filter(
      ({ hunk }) => isProse(hunk) && hunk.oldLines.some((line) => line.trim() !== ""),
    );
    const hand = await folder.handLines(replacing.map(({ path }) => path));
    for (const { path, hunk, rule } of candidates) {
      const lines = isProse(hunk) ? hand.get(path) : undefined;
      if (!hunk.oldLines.some((line, i) => line.trim() !== "" && lines?.has(hunk.oldStart + i)))
        rules.set(hunk.id, rule);
    }
    return rules;
  }

  /** Numbered changes, without rejected hunks and those in other open proposals. */
  async function changesOf(drafted: readonly DraftedChange[], includeRejected: boolean): Promise<Change[]> {
    const fingerprints = drafted.flatMap(({ change }) => change.hunks.map(({ fingerprint }) => fingerprint));
    const known = includeRejected ? new Set<string>() : await records.known(fingerprints);
    let count = 0;
    return drafted.flatMap(({ change, isRemoval }): Change[] => {
      const hunks = change.hunks
        .filter(({ fingerprint }) => !known.has(fingerprint))
        .map((hunk) => ({ ...hunk, id: String((count += 1)) }));
      if (hunks.length === 0) return [];
      return [{ ...change, hunks, after: withHunks(change.before, hunks, isRemoval) }];
    });
  }

  return {
    propose: async ({ job, title, decisions = [], quarantine, includeRejected = false, ...given }) => {
      const { drafted, hash } = await readDrafts(given.drafts);
      if (drafted.length === 0 && decisions.length === 0) return undefined;
      const summary = typeof given.summary === "string" ? given.summary : given.summary();
      return folder.exclusive(async () => {
        const key = job === null ? undefined : `${job}/${hashOf([hash, decisions])}`;
        const before = key === undefined ? undefined : await records.proposed(key);
        if (before === null) return undefined;
        if (before !== undefined) return settledProposal(before);
        const changes = await changesOf(drafted, includeRejected);
        if (changes.length === 0 && decisions.length === 0) {
          if (key !== undefined) await records.rememberNothing(key);
          return undefined;
        }
        const at = time();
        const proposal: Proposal = {
          id: newId("proposal", now().getTime()),
          job,
          title,
          summary,
          state: "open" as const,
          quarantine: quarantine ?? null,
          base: await folder.head(),
          files: changes.length,
          changes,
          counts: { open: 0, accepted: 0, rejected: 0, conflict: 0 },
          decisions: [...decisions],
          commits: [],
          createdAt: at,
          updatedAt: at,
        };
        const rules = await byRule(proposal);
        const saved = await records.save(
          {
            proposal,
            // Created together with its decision, so that readers see it decided.
            applying:
              rules.size === 0 ? null : { hunks: [...rules.keys()], by: RULE, notes: Object.fromEntries(rules) },
            version: 0,
          },
          {
            // Files without a proposal are never read.
            inParts: true,
            further: [
              ...allHunks(proposal)
                .filter(({ id }) => !rules.has(id))
                .map((hunk) => rememberOpen(hunk, proposal.id)),
              ...(key === undefined ? [] : [rememberProposed(key, proposal.id)]),
            ],
          },
        );
        return (saved.applying ? await apply(saved) : saved).proposal;
      });
    },

    get: async (id) => {
      const loaded = await records.load(id);
      return loaded?.applying ? settledProposal(id) : loaded?.proposal;
    },

    page: async (id, query) => {
      let page = await records.page(id, query);
      if (page?.applying) {
        await settledProposal(id);
        page = await records.page(id, query);
      }
      return page && { proposal: page.proposal, groups: page.groups, next: page.next };
    },

    preview: async (id, filter) => {
      const loaded = await records.load(id);
      if (!loaded) return undefined;
      const { proposal } = loaded.applying ? { proposal: await settledProposal(id) } : loaded;
      const isMatch = hunkMatcher(filter);
      const taken = new Set(choose(proposal, { filter }).flatMap((hunk) => (isHeld(hunk) ? [] : [hunk.id])));
      const groups = groupHunks(proposal.changes, (change, hunk) => isWaiting(hunk) && isMatch(change, hunk));
      const held = groups.reduce((sum, group) => sum + group.held, 0);
      return { hunks: taken.size, files: pathsWith(proposal, taken).size, held, groups };
    },

    waiting: (prefix, { exceptOf }) => records.waiting(prefix, exceptOf),

    list: (query) => records.list(query),

    accept: (id, { by, ...choice }) =>
      decide(id, async (loaded) => {
        const { filter } = choice;
        if (!filter) {
          const all = choose(loaded.proposal, choice);
          await refuseBrokenPart(folder, loaded.proposal, new Set(all.map((hunk) => hunk.id)));
          return (await accepting(loaded, all, by)).proposal;
        }
        if (loaded.proposal.quarantine !== null) {
          throw new RequestError("conflict", `${id} is in quarantine: ${loaded.proposal.quarantine}`, {
            fix: "Read its hunks and accept them by number, or all of them without a filter.",
          });
        }
        const hunks = choose(loaded.proposal, choice).filter((hunk) => !isHeld(hunk));
        await refuseBrokenPart(folder, loaded.proposal, new Set(hunks.map((hunk) => hunk.id)));
        const note = describeFilter(filter);
        const notes = Object.fromEntries(hunks.map((hunk) => [hunk.id, note]));
        return (await accepting(loaded, hunks, by, notes)).proposal;
      }),

    reject: (id, { by, reason, ...choice }) =>
      decide(id, async (loaded) => {
        const chosen = new Set(choose(loaded.proposal, choice).map((hunk) => hunk.id));
        const rejected = mapHunks(loaded.proposal, (hunk) =>
          chosen.has(hunk.id) ? { ...hunk, state: "rejected", note: reason, decidedBy: by, decidedAt: time() } : hunk,
        );
        // Rejecting everything also rejects its questions.
        const decisions =
          choice.hunks || choice.filter
            ? rejected.decisions
            : rejected.decisions.map((item) => ({ ...item, answer: item.answer ?? reason ?? "rejected" }));
        const decided = { proposal: id, by, at: time() };
        const further = rejected.changes.flatMap((change) =>
          change.hunks.flatMap((hunk) =>
            chosen.has(hunk.id)
              ? [forgetOpen(hunk), rememberRejected(hunk, decided), ...rememberRejectedPassages(change, hunk, decided)]
              : [],
          ),
        );
        const proposal = { ...rejected, decisions, updatedAt: time() };
        return (await records.save({ ...loaded, proposal }, { further, paths: pathsWith(proposal, chosen) })).proposal;
      }),

    edit: (id, { path, after, by }) =>
      decide(id, async (loaded) => {
        const { proposal } = loaded;
        const old = proposal.changes.find((change) => change.path === path);
        if (!old)
          throw new RequestError("not_found", `${path} is not in ${id}.`, { fix: `It has ${pathsOf(proposal)}.` });
        if (old.hunks.some(({ state }) => state === "accepted")) {
          throw new RequestError("conflict", `A part of ${path} was accepted already.`, {
            fix: "Edit the file itself.",
          });
        }
        if ((old.before ?? "") === after) {
          throw new RequestError("invalid_request", `${path} reads so already.`, { fix: "Reject its hunks instead." });
        }
        const edited = editedChange(old, after, { by, at: time(), next: highest(proposal) + 1 });
        const changes = proposal.changes.map((change) => (change === old ? edited : change));
        const saved = await records.save(
          { ...loaded, proposal: { ...proposal, changes, updatedAt: time() } },
          { further: [...old.hunks.map(forgetOpen), ...edited.hunks.map((hunk) => rememberOpen(hunk, id))] },
        );
        return saved.proposal;
      }),

    answer: (id, { decision, answer, by }) =>
      decide(id, async (loaded) => {
        const { proposal } = loaded;
        const asked = proposal.decisions.find((item) => item.id === decision);
        if (!asked) throw new RequestError("not_found", `There is no question ${decision} in ${id}.`);
        if (asked.answer !== null) {
          throw new RequestError("conflict", `The question ${decision} was answered already: ${asked.answer}`);
        }
        const decisions = proposal.decisions.map((item) =>
          item === asked ? { ...item, answer, answeredBy: by } : item,
        );
        return (await records.save({ ...loaded, proposal: { ...proposal, decisions, updatedAt: time() } })).proposal;
      }),

    undo: (id, by) =>
      decide(id, async (first) => {
        let loaded = first;
        if (loaded.proposal.commits.length === 0) {
          throw new RequestError("conflict", `Nothing of ${id} was accepted, or it was undone already.`);
        }
        for (const commit of loaded.proposal.commits.toReversed()) {
          const trailers = { "Undone-By": by, "Undoes-Proposal": id };
          await folder.revert(commit, { subject: `Undo: ${loaded.proposal.title}`, trailers });
          const undone = mapHunks(loaded.proposal, (hunk) =>
            hunk.commit === commit
              ? { ...hunk, state: "rejected", note: "undone", decidedBy: by, decidedAt: time(), commit: undefined }
              : hunk,
          );
          const decided = { proposal: id, by, at: time() };
          const gone = allHunks(loaded.proposal).filter((hunk) => hunk.commit === commit);
          const further = gone.map((hunk) => rememberRejected(hunk, decided));
          const commits = undone.commits.filter((other) => other !== commit);
          loaded = await records.save({ ...loaded, proposal: { ...undone, commits, updatedAt: time() } }, { further });
        }
        return loaded.proposal;
      }),
  };
}

function choose(proposal: Proposal, { hunks: ids, filter }: HunkChoice): Hunk[] {
  const all = allHunks(proposal);
  if (filter) {
    const isMatch = hunkMatcher(filter);
    return proposal.changes.flatMap((change) =>
      change.hunks.filter((hunk) => isWaiting(hunk) && isMatch(change, hunk)),
    );
  }
  if (ids === undefined) return all.filter(isWaiting);
  const byId = new Map(all.map((hunk) => [hunk.id, hunk]));
  return [...new Set(ids)].map((id) => {
    const hunk = byId.get(id);
    if (!hunk)
      throw new RequestError("not_found", `There is no hunk ${id} in ${proposal.id}.`, {
        fix: "Show the proposal again.",
      });
    if (isWaiting(hunk)) return hunk;
    const by = hunk.decidedBy === undefined ? "" : ` by ${hunk.decidedBy}`;
    throw new RequestError("conflict", `Hunk ${id} was ${hunk.state} already${by}.`, {
      fix: hunk.state === "accepted" ? "Undo the proposal to revert it." : "",
    });
  });
}

const isWaiting = ({ state }: Hunk): boolean => state === "open" || state === "conflict";
const isHeld = ({ held }: Hunk): boolean => held !== undefined;
const pathsWith = ({ changes }: Proposal, ids: ReadonlySet<string>): Set<string> =>
  new Set(changes.filter(({ hunks }) => hunks.some(({ id }) => ids.has(id))).map(({ path }) => path));
const isProse = ({ aspect }: Hunk): boolean => aspect === "wiki" || aspect === "memory";
const allHunks = ({ changes }: Proposal): Hunk[] => changes.flatMap(({ hunks }) => hunks);
const highest = (proposal: Proposal): number => Math.max(0, ...allHunks(proposal).map(({ id }) => Number(id)));
const pathsOf = ({ changes }: Proposal): string => changes.map(({ path }) => path).join(", ");

function mapHunks(proposal: Proposal, map: (hunk: Hunk) => Hunk): Proposal {
  return { ...proposal, changes: proposal.changes.map((change) => ({ ...change, hunks: change.hunks.map(map) })) };
}
