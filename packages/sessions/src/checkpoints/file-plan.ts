import { isSameEntry, type Checkpoint, type CheckpointStore, type PathChange } from "@tandem/workspace";
import type { PastMark } from "./session-past.ts";

export interface ForeignChange {
  path: string;
  reason: string;
}

export interface FilePlan {
  /** Changes from the current files to the target: only paths that the session has touched. */
  changes: PathChange[];
  /** Paths that another program changed as well; its changes would be lost. */
  foreign: ForeignChange[];
}

interface Span {
  from: Checkpoint;
  to: Checkpoint;
}

const SINCE = "changed since the session's last turn";
const BETWEEN = "changed outside the session between two turns";
const BESIDE = "changed while another session was running in the same folder";

/**
 * Plans a rewind to `target`. Changes between the start and end of a turn are the session's. Changes between turns, or since
 * the last turn, are foreign.
 */
export async function planFiles(
  store: CheckpointStore,
  owner: string,
  {
    marks,
    target,
    present,
    ownPaths,
  }: {
    /** In log order; the first is the target's. */
    marks: readonly PastMark[];
    target: Checkpoint;
    present: Checkpoint;
    /** Paths inside the folder that the session's tools report as changed. */
    ownPaths: () => Promise<ReadonlySet<string>>;
  },
): Promise<FilePlan> {
  const all = await store.list();
  const kept = new Map(all.filter((each) => each.owner === owner).map((each) => [each.id, each]));
  const touched = new Set<string>();
  const others = new Map<string, string>();
  const spans: Span[] = [];
  let last = target;
  let begun: Checkpoint | undefined = target;
  const gap = async (to: Checkpoint, reason: string): Promise<void> => {
    for (const { path } of await store.changes(last, to)) others.set(path, reason);
  };
  const work = async (span: Span): Promise<PathChange[]> => {
    spans.push(span);
    const changes = await store.changes(span.from, span.to);
    for (const { path } of changes) touched.add(path);
    return changes;
  };
  for (const { kind, checkpoint } of marks.slice(1)) {
    const at = kept.get(checkpoint);
    if (!at) continue;
    if (kind === "before" || kind === "rewind") {
      // A turn without a recorded end lasted until now.
      if (begun) await work({ from: begun, to: at });
      else await gap(at, BETWEEN);
      begun = at;
    } else {
      const changes = await work({ from: begun ?? last, to: at });
      // A rewind restored these files to the session's own state.
      if (kind === "rewound") for (const { path } of changes) others.delete(path);
      begun = undefined;
    }
    last = at;
  }
  if (begun) await work({ from: begun, to: present });
  else await gap(present, SINCE);
  await noteOthers(store, { all, owner, spans, present, others, ownPaths });
  const changes = (await store.changes(present, target)).filter(({ path }) => touched.has(path));
  const foreign = changes
    .filter(({ path, from, to }) => others.has(path) && !isSameEntry(from, to))
    .map(({ path }) => ({ path, reason: others.get(path)! }));
  return { changes, foreign };
}

/** With concurrent sessions in one folder, a change has no known author unless a tool reported it. */
async function noteOthers(
  store: CheckpointStore,
  {
    all,
    owner,
    spans,
    present,
    others,
    ownPaths,
  }: {
    all: readonly Checkpoint[];
    owner: string;
    spans: readonly Span[];
    present: Checkpoint;
    others: Map<string, string>;
    ownPaths: () => Promise<ReadonlySet<string>>;
  },
): Promise<void> {
  const beside = foreignSpans(all, owner, present).filter((other) => spans.some((own) => overlap(own, other)));
  if (beside.length === 0) return;
  const own = await ownPaths();
  for (const { from, to } of beside) {
    for (const { path } of await store.changes(from, to)) if (!own.has(path)) others.set(path, BESIDE);
  }
}

function foreignSpans(all: readonly Checkpoint[], owner: string, present: Checkpoint): Span[] {
  const open = new Map<string, Checkpoint>();
  const spans: Span[] = [];
  for (const each of all.filter((other) => other.owner !== owner)) {
    const from = open.get(each.owner);
    if (from) spans.push({ from, to: each });
    if (each.label === "before") open.set(each.owner, each);
    else open.delete(each.owner);
  }
  return [...spans, ...[...open.values()].map((from) => ({ from, to: present }))];
}

const overlap = (a: Span, b: Span): boolean => a.from.at < b.to.at && b.from.at < a.to.at;
