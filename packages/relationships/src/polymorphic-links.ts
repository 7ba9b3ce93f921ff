import { isNamed } from "./score.ts";
import type { Candidate } from "./join-candidates.ts";
import type { Overlap } from "./data/overlap.ts";
import type { Probe, Prober } from "./data/prober.ts";
import { readsLikeReference } from "./names/roles.ts";
import { type ColumnFacts, kindFit, type TableFacts } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";
import type { Vocabulary } from "./names/vocabulary.ts";
import { INFLECTED, wordsOf } from "./names/name-words.ts";

/** A column that references one of several tables; another column contains which. */
interface PolymorphicLink {
  from: ColumnFacts;
  key: Key;
  when: { column: string; equals: string };
  overlap: Overlap | undefined;
  /** For review if its values were not compared. */
  status: "accepted" | "review";
  confidence: number;
  why: string[];
}

interface PolymorphicLinks {
  links: PolymorphicLink[];
  /** Columns that refer to several tables: no other link of theirs is right. */
  columns: Set<ColumnFacts>;
  /** Columns whose target depends on a number: which table it means is not known. */
  undecided: Map<ColumnFacts, ColumnFacts>;
}

const KINDS_AT_MOST = 30;
const TYPE_WORDS = new Set(["type", "kind", "class", "model", "table", "entity", "typ", "tipo", "art"]);

export async function findPolymorphicLinks(
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  byColumn: ReadonlyMap<ColumnFacts, readonly Candidate[]>,
  { vocabulary, prober }: { vocabulary: Vocabulary; prober: Prober },
): Promise<PolymorphicLinks> {
  const columns = new Set<ColumnFacts>();
  const undecided = new Map<ColumnFacts, ColumnFacts>();
  const probes: (Probe & { key: Key; when: { column: string; equals: string } })[] = [];
  for (const table of tables) {
    for (const { type, id } of typedIds(table, byColumn, vocabulary)) {
      const sayType = vocabulary
        .read(type)
        .at(-1)!
        .words.some((word) => TYPE_WORDS.has(word));
      if (type.kind === "integer") {
        if (sayType && shareStem(type, id, vocabulary)) undecided.set(id, type);
        continue;
      }
      const found = await meanings(type, tables, vocabulary, prober);
      const mapped = found.filter(({ target }) => target);
      // Names alone make it polymorphic; without target tables there is nothing to link, and no other table is right
      // either.
      if (found.length === 0 && sayType && shareStem(type, id, vocabulary)) columns.add(id);
      if (mapped.length === 0 || mapped.length < found.length * 0.6 || (mapped.length === 1 && !sayType)) continue;
      columns.add(id);
      for (const { value, target } of mapped) {
        const key = keys.get(target!)?.find((each) => each.primary && each.columns.length === 1);
        if (!key || kindFit(id, key.columns[0]!) === 0) continue;
        probes.push({ from: [id], to: key.columns, key, when: { column: type.name, equals: value } });
      }
    }
  }
  await prober.ask(probes);
  const links = probes.flatMap((probe): PolymorphicLink[] => {
    const overlap = prober.answerTo(probe);
    if (overlap && overlap.found < overlap.checked * 0.95) return [];
    const { key, when } = probe;
    const why = [`Where ${when.column} is "${when.equals}", it names a row of ${key.table.name.name}.`];
    if (overlap) why.push(`${overlap.found} of ${overlap.checked} such values are found there.`);
    else why.push("Its values were not compared.");
    const status = overlap ? "accepted" : "review";
    return [{ from: probe.from[0]!, key, when, overlap, status, confidence: overlap ? 0.9 : 0.5, why }];
  });
  return { links, columns, undecided };
}

/** Pairs such as commentable_type and commentable_id whose names contain no table. */
function typedIds(
  table: TableFacts,
  byColumn: ReadonlyMap<ColumnFacts, readonly Candidate[]>,
  vocabulary: Vocabulary,
): { type: ColumnFacts; id: ColumnFacts }[] {
  const free = table.columns.filter(
    (column) =>
      readsLikeReference(column, vocabulary) >= 1 &&
      !(byColumn.get(column) ?? []).some((candidate) => isNamed(candidate) && candidate.name.score >= 0.8),
  );
  return table.columns
    .filter(
      ({ kind, profile }) =>
        (kind === "text" || kind === "other" || kind === "integer") && (profile?.distinct ?? 0) <= KINDS_AT_MOST,
    )
    .flatMap((type) => {
      const near = free.filter(
        (id) => id !== type && (shareStem(type, id, vocabulary) || Math.abs(id.position - type.position) === 1),
      );
      const [id] = near.toSorted(
        (a, b) => Number(shareStem(type, b, vocabulary)) - Number(shareStem(type, a, vocabulary)),
      );
      return id ? [{ type, id }] : [];
    });
}

/** commentable_type and commentable_id have the same stem. */
function shareStem(type: ColumnFacts, id: ColumnFacts, vocabulary: Vocabulary): boolean {
  const words = vocabulary.read(type).at(-1)!.words;
  const stem = vocabulary.read(id).at(-1)!.entity;
  return words.length > 1 && stem.length > 0 && words.slice(0, stem.length).join(" ") === stem.join(" ");
}

/** Values of the type column with the table each means: `Post`, `blog.post` and `App\Models\Post` mean posts. */
async function meanings(
  type: ColumnFacts,
  tables: readonly TableFacts[],
  vocabulary: Vocabulary,
  prober: Prober,
): Promise<{ value: string; target: TableFacts | undefined }[]> {
  const isNear = ({ name }: TableFacts) => Number(name.schema === type.table.name.schema);
  const near = tables.toSorted((a, b) => isNear(b) - isNear(a));
  const targetOf = (value: string): TableFacts | undefined => {
    const words = wordsOf(value);
    return near.find((table) =>
      vocabulary.entitiesOf(table).some((entity) => {
        const tail = words.slice(-entity.words.length);
        return (
          tail.length === entity.words.length &&
          tail.every((word, i) => vocabulary.likeness(word, entity.words[i]!) >= INFLECTED)
        );
      }),
    );
  };
  const samples = type.profile?.samples ?? [];
  if (!samples.some((value) => targetOf(String(value)))) return [];
  const name = prober.quote(type.name);
  const rows = await prober.query(
    `SELECT DISTINCT ${name} FROM ${prober.tableOf(type.table)} WHERE ${name} IS NOT NULL LIMIT ${KINDS_AT_MOST + 1}`,
  );
  return (rows ?? []).map(([value]) => ({ value: String(value), target: targetOf(String(value)) }));
}
