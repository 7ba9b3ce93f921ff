import { HUNK_KINDS, HUNK_ORIGINS } from "@tandem/protocol";
import { z } from "zod";
import { type HunkFacts, hunkFacts, hunkFilter, type HunkFilter } from "./hunk-filter.ts";
import type { Change, Hunk } from "./proposal.ts";

/** Hunks of one kind and origin in one schema or folder: a large proposal is decided by these. */
export const hunkGroup = z.strictObject({
  title: z.string(),
  kind: z.enum(HUNK_KINDS),
  origin: z.enum(HUNK_ORIGINS),
  certain: z.boolean(),
  area: z.string(),
  files: z.int(),
  counts: z.strictObject({ open: z.int(), accepted: z.int(), rejected: z.int(), conflict: z.int() }),
  held: z.int(),
  confidence: z.strictObject({ min: z.number(), max: z.number() }).nullable(),
  filter: hunkFilter,
});
export type HunkGroup = z.output<typeof hunkGroup>;

/** A longer list is no overview; larger areas are used instead. */
const MAX_GROUPS = 100;

interface Found {
  facts: HunkFacts;
  path: string;
  hunk: Hunk;
}

type Area = { name: string; pattern: string };

/** Sorted by area, then by kind. */
export function groupHunks(
  changes: readonly Pick<Change, "path" | "evidence" | "hunks">[],
  isWanted: (change: Pick<Change, "path" | "evidence">, hunk: Hunk) => boolean = () => true,
): HunkGroup[] {
  const found = changes.flatMap((change): Found[] =>
    change.hunks
      .filter((hunk) => isWanted(change, hunk))
      .map((hunk) => ({ facts: hunkFacts(change, hunk), path: change.path, hunk })),
  );
  const [smallest, ...larger] = AREAS;
  let groups = groupBy(found, smallest!);
  for (const areaOf of larger) {
    if (groups.length <= MAX_GROUPS) break;
    groups = groupBy(found, areaOf);
  }
  const place = ({ area, kind, origin }: HunkGroup) =>
    `${area}\0${HUNK_KINDS.indexOf(kind)}\0${HUNK_ORIGINS.indexOf(origin)}`;
  return groups.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

function groupBy(found: readonly Found[], areaOf: (path: string) => Area): HunkGroup[] {
  const groups = new Map<string, { group: HunkGroup; paths: Set<string> }>();
  const areas = new Map<string, Area>();
  for (const { facts, path, hunk } of found) {
    const area = areas.get(path) ?? areaOf(path);
    areas.set(path, area);
    const { kind, origin, certain, confidence } = facts;
    const key = JSON.stringify([kind, origin, certain, area.name]);
    const { group, paths } = groups.get(key) ?? { group: emptyGroup(facts, area), paths: new Set() };
    groups.set(key, { group, paths: paths.add(path) });
    group.files = paths.size;
    group.counts[hunk.state] += 1;
    if (hunk.held !== undefined && hunk.state === "open") group.held += 1;
    if (confidence === null) continue;
    const { min, max } = group.confidence ?? { min: confidence, max: confidence };
    group.confidence = { min: Math.min(min, confidence), max: Math.max(max, confidence) };
  }
  return [...groups.values()].map(({ group }) => group);
}

function emptyGroup({ kind, origin, certain }: HunkFacts, { name, pattern }: Area): HunkGroup {
  const filter: HunkFilter = {
    kinds: [kind],
    origins: [origin],
    ...(kind === "join" && { certain }),
    paths: [pattern],
  };
  const counts = { open: 0, accepted: 0, rejected: 0, conflict: 0 };
  const title = titleOf(kind, origin, certain);
  return { title, kind, origin, certain, area: name, files: 0, counts, held: 0, confidence: null, filter };
}

const KIND_TITLES: Record<HunkFacts["kind"], string> = {
  structure: "Tables and columns",
  key: "Keys",
  profile: "Profiles",
  join: "Joins",
  description: "Descriptions",
  wiki: "Wiki pages",
  memory: "Memories",
  metric: "Metrics",
};

const ORIGIN_TITLES: Record<HunkFacts["origin"], string> = {
  person: "written by a person",
  session: "from sessions",
  source: "from documents",
  model: "by a model",
  data: "from the database",
};

function titleOf(kind: HunkFacts["kind"], origin: HunkFacts["origin"], certain: boolean): string {
  if (kind !== "join") return `${KIND_TITLES[kind]} ${ORIGIN_TITLES[origin]}`;
  if (certain) return origin === "model" ? "Joins by a model, verified in the data" : "Joins verified in the data";
  return origin === "model" ? "Joins suggested by a model, to review" : "Joins to review";
}

/** From small to large: schema or folder, connection or top folder. */
const AREAS: readonly ((path: string) => Area)[] = [
  (path) => {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!path.startsWith("catalogue/")) return folderArea(folder, "*");
    const file = path.slice(folder.length + 1);
    const schema = file.slice(0, file.indexOf("."));
    return { name: `${folder}/${schema}`, pattern: `${escaped(`${folder}/${schema}`)}.*` };
  },
  (path) =>
    folderArea(
      path
        .split("/")
        .slice(0, path.startsWith("catalogue/") ? 2 : 1)
        .join("/"),
      "**",
    ),
];

const folderArea = (folder: string, below: "*" | "**"): Area => ({
  name: folder,
  pattern: `${escaped(folder)}/${below}`,
});

const escaped = (path: string): string => path.replaceAll(/[\\*?[\]{}()!+@]/g, String.raw`\$&`);
