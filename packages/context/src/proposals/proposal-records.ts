import { RequestError } from "@tandem/protocol";
import { recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";
import { withHunks } from "./apply-hunks.ts";
import { type HunkFilter, hunkMatcher } from "./hunk-filter.ts";
import { type HunkGroup, groupHunks, hunkGroup } from "./hunk-groups.ts";
import {
  change,
  PROPOSAL_STATES,
  proposalSummary,
  type Change,
  type Hunk,
  type Proposal,
  type ProposalSummary,
} from "./proposal.ts";

// Separate records: lists read only summaries, and a proposal of a thousand files is a thousand small records.
const PROPOSAL = "proposal";
const CHANGE = "proposal_change";
/** By fingerprint: hunks in open proposals, and rejected hunks. */
const OPEN = "open_hunk";
const REJECTED = "rejected_hunk";
/** By job and drafts: the resulting proposal. */
const PROPOSED = "proposed";

const PAGE = 500;
const CHARACTERS_PER_PAGE = 2_000_000;
/** Files read per query if a filter may leave out most of them. */
const FILTERED_AT_ONCE = 200;
/** Files written per transaction. */
const FILES_AT_ONCE = 50;

const storedSummary = proposalSummary.extend({
  /** A decision that may not be in the files yet (write-ahead); the next process completes it. */
  applying: z
    .object({ hunks: z.array(z.string()), by: z.string(), notes: z.record(z.string(), z.string()) })
    .nullable(),
  /** Stored, so that showing a page of a large proposal reads only that page. Version 0.1.0 wrote none. */
  groups: z.array(hunkGroup).optional(),
});
// `after` is derived.
const storedChange = change.omit({ after: true }).extend({ isRemoval: z.boolean() });

type Applying = NonNullable<z.output<typeof storedSummary>["applying"]>;

/** A proposal with the version that was read, for optimistic locking. */
export interface Loaded {
  proposal: Proposal;
  applying: Applying | null;
  version: number;
}

export class ProposalRecords {
  readonly #records: Records;
  readonly #space: string;

  constructor(records: Records, space: string) {
    this.#records = records;
    this.#space = space;
  }

  async load(id: string): Promise<Loaded | undefined> {
    const stored = await this.#records.get(this.#space, PROPOSAL, id);
    if (!stored) return undefined;
    const { applying, groups: _, ...summary } = storedSummary.parse(stored.value);
    const changes: Change[] = [];
    for await (const page of recordPages(this.#records, this.#space, CHANGE, { prefix: `${id}/` })) {
      changes.push(...page.map(({ value }) => readChange(value)));
    }
    return { proposal: { ...summary, changes }, applying, version: stored.version };
  }

  /** With one page of its files; with a filter, only files and hunks that match. */
  async page(
    id: string,
    { limit, after, filter }: { limit: number; after?: string; filter?: HunkFilter },
  ): Promise<
    { proposal: Proposal; applying: Applying | null; groups: readonly HunkGroup[]; next: string | null } | undefined
  > {
    const stored = await this.#records.get(this.#space, PROPOSAL, id);
    if (!stored) return undefined;
    const { applying, groups, ...summary } = storedSummary.parse(stored.value);
    const { shown, next } = await this.#changesAfter(`${id}/`, { limit, after, filter });
    return {
      proposal: { ...summary, changes: shown },
      applying,
      groups: groups ?? groupHunks((await this.load(id))?.proposal.changes ?? []),
      next,
    };
  }

  async #changesAfter(
    prefix: string,
    { limit, after, filter }: { limit: number; after: string | undefined; filter: HunkFilter | undefined },
  ): Promise<{ shown: Change[]; next: string | null }> {
    const isMatch = filter ? hunkMatcher(filter) : () => true;
    const shown: Change[] = [];
    let last = after;
    for (let room = CHARACTERS_PER_PAGE; ;) {
      const from = last === undefined ? {} : { after: `${prefix}${last}` };
      const wanted = filter ? Math.max(limit, FILTERED_AT_ONCE) : limit;
      const found = await this.#records.list(this.#space, CHANGE, { prefix, limit: wanted + 1, ...from });
      for (const { key, value } of found.slice(0, wanted)) {
        const change = readChange(value);
        const hunks = change.hunks.filter((hunk) => isMatch(change, hunk));
        if (!filter || hunks.length > 0) {
          room -= JSON.stringify(value).length;
          if (shown.length === limit || (room < 0 && shown.length > 0)) return { shown, next: last ?? null };
          shown.push({ ...change, hunks });
        }
        last = key.slice(prefix.length);
      }
      if (found.length <= wanted) return { shown, next: null };
      if (!filter) return { shown, next: last ?? null };
    }
  }

  async list(query: {
    states?: readonly Proposal["state"][];
    limit: number;
    after?: string;
  }): Promise<ProposalSummary[]> {
    const { states = PROPOSAL_STATES, limit, after } = query;
    const found: ProposalSummary[] = [];
    for await (const page of recordPages(this.#records, this.#space, PROPOSAL, { order: "desc", after })) {
      for (const { value } of page) {
        const { applying: _applying, groups: _groups, ...summary } = storedSummary.parse(value);
        if (states.includes(summary.state)) found.push(summary);
        if (found.length === limit) return found;
      }
    }
    return found;
  }

  /** The newest open proposal of each file. */
  async waiting(prefix: string, exceptOf: string): Promise<Map<string, string>> {
    const paths = new Map<string, string>();
    for (let after: string | undefined; ;) {
      const open = await this.list({ states: ["open"], limit: PAGE, ...(after && { after }) });
      for (const { id, job } of open) {
        if (job === exceptOf) continue;
        for (const { path, hunks } of (await this.load(id))?.proposal.changes ?? []) {
          const waits = hunks.some(({ state }) => state === "open" || state === "conflict");
          if (waits && path.startsWith(prefix) && !paths.has(path)) paths.set(path, id);
        }
      }
      if (open.length < PAGE) return paths;
      after = open.at(-1)!.id;
    }
  }

  /**
   * Stores a proposal with updated counts. Returns it with its new version. `inParts`: its files are written before the rest,
   * a few at a time, so that a thousand are not in memory twice; only where a crash in between is made good.
   */
  async save(
    { proposal, applying, version }: Loaded,
    {
      paths,
      further = [],
      inParts = false,
    }: { paths?: ReadonlySet<string>; further?: readonly RecordChange[]; inParts?: boolean } = {},
  ): Promise<Loaded> {
    const { changes, ...rest } = proposal;
    const hunks = changes.flatMap((item) => item.hunks);
    const summary: ProposalSummary = { ...rest, ...figuresOf(hunks, rest.decisions), files: changes.length };
    const groups = groupHunks(changes);
    const files = changes.flatMap((item, index): RecordChange[] => {
      if (paths && !paths.has(item.path)) return [];
      const { after, ...stored } = item;
      const value: z.input<typeof storedChange> = { ...stored, isRemoval: after === null };
      return [{ type: "put", kind: CHANGE, key: `${proposal.id}/${String(index).padStart(6, "0")}`, value }];
    });
    const together = inParts ? files.splice(-FILES_AT_ONCE) : files;
    if (inParts) {
      for (let from = 0; from < files.length; from += FILES_AT_ONCE) {
        await this.#records.write(this.#space, files.slice(from, from + FILES_AT_ONCE));
      }
    }
    await this.#records
      .write(this.#space, [
        { type: "put", kind: PROPOSAL, key: proposal.id, value: { ...summary, applying, groups }, version },
        ...together,
        ...further,
      ])
      .catch((error: unknown) => {
        if (!(error instanceof RequestError) || error.code !== "conflict") throw error;
        throw new RequestError("conflict", `${proposal.id} was decided by another person in the meantime.`, {
          fix: "Show it again.",
          cause: error,
        });
      });
    return { proposal: { ...summary, changes }, applying, version: version + 1 };
  }

  /** Fingerprints that were rejected or are in an open proposal. */
  async known(fingerprints: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (let from = 0; from < fingerprints.length; from += PAGE) {
      const keys = fingerprints.slice(from, from + PAGE);
      for (const kind of [OPEN, REJECTED]) {
        for (const { key } of await this.#records.getMany(this.#space, kind, keys)) found.add(key);
      }
    }
    return found;
  }

  /** The earlier result for this key: an id, null if nothing was left to propose, undefined if never proposed. */
  async proposed(key: string): Promise<string | null | undefined> {
    const stored = await this.#records.get(this.#space, PROPOSED, key);
    return stored && z.object({ proposal: z.string().nullable() }).parse(stored.value).proposal;
  }

  async rememberNothing(key: string): Promise<void> {
    await this.#records.write(this.#space, [rememberProposed(key, null)]);
  }
}

function readChange(value: unknown): Change {
  const { isRemoval, ...rest } = storedChange.parse(value);
  return { ...rest, after: withHunks(rest.before, rest.hunks, isRemoval) };
}

export const rememberProposed = (key: string, proposal: string | null): RecordChange => ({
  type: "put",
  kind: PROPOSED,
  key,
  value: { proposal },
});

export const rememberOpen = ({ fingerprint }: Hunk, proposal: string): RecordChange => ({
  type: "put",
  kind: OPEN,
  key: fingerprint,
  value: { proposal },
});

export const forgetOpen = ({ fingerprint }: Hunk): RecordChange => ({ type: "delete", kind: OPEN, key: fingerprint });

export const rememberRejected = (
  { fingerprint }: Hunk,
  decided: { proposal: string; by: string; at: string },
): RecordChange => ({ type: "put", kind: REJECTED, key: fingerprint, value: decided });

function figuresOf(
  hunks: readonly Hunk[],
  decisions: Proposal["decisions"],
): Pick<ProposalSummary, "state" | "counts"> {
  const counts = { open: 0, accepted: 0, rejected: 0, conflict: 0 };
  for (const { state } of hunks) counts[state] += 1;
  const waits = counts.open + counts.conflict > 0 || decisions.some(({ answer }) => answer === null);
  if (waits) return { counts, state: "open" };
  // A proposal with only decisions is accepted by answering them.
  if (counts.rejected === 0) return { counts, state: "accepted" };
  return { counts, state: counts.accepted > 0 ? "partly" : "rejected" };
}
