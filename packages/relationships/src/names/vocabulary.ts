import { GLUED_ENDS, HIERARCHY_WORDS, ID_WORDS, LINK_WORDS, PREPOSITIONS, RANK_WORDS, TABLE_DRESS } from "./lexicon.ts";
import type { ColumnFacts, TableFacts } from "../data/table-facts.ts";
import { INFLECTED, likeness, wordsOf } from "./name-words.ts";

/** One name of a table's entity. */
export interface EntityName {
  words: readonly string[];
  /** 1 for the table's own name, slightly less without its prefix and the like. */
  quality: number;
}

/** A parsed column name: `billing_cust_no` is entity [billing, cust] and id words [no]. */
export interface ReadName {
  words: readonly string[];
  entity: readonly string[];
  idWords: readonly string[];
}

/**
 * The naming conventions of one schema, learnt from all its names: id words, prefixes of tables and columns, and
 * boundaries of joined words.
 */
export class Vocabulary {
  readonly #idWords = new Set(ID_WORDS);
  readonly #entities = new Map<TableFacts, readonly EntityName[]>();
  readonly #columnPrefix = new Map<TableFacts, string>();
  readonly #gluedPrefix = new Map<TableFacts, string>();
  readonly #tableWords = new Set<string>();
  readonly #tableWordsByStart = new Map<string, string[]>();
  readonly #likeness = new Map<string, number>();
  readonly #pieces = new Map<string, readonly string[]>();
  readonly #read = new Map<ColumnFacts, readonly ReadName[]>();

  /** `id_service` rather than `service_id`: modifiers follow, as in `service_entree`. */
  isHeadFirst = false;

  constructor(tables: readonly TableFacts[]) {
    const names = new Map(tables.map((table) => [table, wordsOf(table.name.name)]));
    partGluedPrefix(names);
    partGluedEnds(names);
    for (const words of names.values()) for (const word of words) this.#tableWords.add(word);
    for (const word of this.#tableWords) {
      const start = word.slice(0, 1);
      this.#tableWordsByStart.set(start, [...(this.#tableWordsByStart.get(start) ?? []), word]);
    }
    const dress = commonDress([...names.values()]);
    const glued = gluedPrefixes(tables);
    for (const [table, prefix] of glued) this.#gluedPrefix.set(table, prefix);
    for (const [table, words] of names) {
      this.#entities.set(table, undressed(words, dress));
      const prefix = columnPrefix(table);
      if (prefix) this.#columnPrefix.set(table, prefix);
    }
    this.#learnIdWords(tables);
    this.isHeadFirst = this.#leadsWithIdWords(tables);
  }

  #leadsWithIdWords(tables: readonly TableFacts[]): boolean {
    const names = tables.flatMap(({ columns }) => columns.map(({ name }) => wordsOf(name)));
    const compound = names.filter((words) => words.length > 1);
    const leading = compound.filter(([first]) => this.#idWords.has(first!)).length;
    const trailing = compound.filter((words) => this.#idWords.has(words.at(-1)!)).length;
    return leading >= 3 && leading > trailing;
  }

  likeness(a: string, b: string): number {
    if (a === b) return 1;
    if (a[0] !== b[0] && a.length + b.length > 6 && a[0]! < "\u2E80")
      return a === "people" || b === "people" ? likeness(a, b) : 0;
    const pair = a < b ? `${a} ${b}` : `${b} ${a}`;
    let value = this.#likeness.get(pair);
    if (value === undefined) this.#likeness.set(pair, (value = likeness(a, b)));
    return value;
  }

  entitiesOf = (table: TableFacts): readonly EntityName[] => this.#entities.get(table) ?? [];

  /** A column's name with and without the common prefix of its table. */
  read(column: ColumnFacts): readonly ReadName[] {
    let readings = this.#read.get(column);
    if (!readings) {
      const words = wordsOf(column.name);
      const prefix = this.#columnPrefix.get(column.table);
      const variants = [words, ...(prefix && words.length > 1 && words[0] === prefix ? [words.slice(1)] : [])];
      const glued = this.#gluedPrefix.get(column.table);
      if (glued) variants.push([words[0]!.slice(glued.length), ...words.slice(1)]);
      readings = variants.map((variant) => this.#readWords(variant));
      this.#read.set(column, readings);
    }
    return readings;
  }

  #readWords(raw: readonly string[]): ReadName {
    const words = raw.flatMap((word) => this.#takeApart(word));
    let [start, end] = [0, words.length];
    while (end > start && this.#idWords.has(words[end - 1]!)) end--;
    const trailing = words.slice(end);
    if (trailing.length === 0) while (start < end && this.#idWords.has(words[start]!)) start++;
    const idWords = trailing.length > 0 ? trailing : words.slice(0, start);
    // `id_order_no`: id words at both ends.
    while (start < end - 1 && this.#idWords.has(words[start]!)) start++;
    const linked = words.slice(start, end);
    while (linked.length > 1 && PREPOSITIONS.has(linked.at(-1)!)) linked.pop();
    const entity = linked.filter((word) => linked.length === 1 || !LINK_WORDS.has(word));
    return { words, entity, idWords };
  }

  /** `custkey`, `wardid`, `hometeam`: split at a known table or id word. */
  #takeApart(word: string): readonly string[] {
    let pieces = this.#pieces.get(word);
    if (!pieces) this.#pieces.set(word, (pieces = this.#findSeam(word)));
    return pieces;
  }

  #findSeam(word: string): readonly string[] {
    if (word.length < 4 || this.#idWords.has(word) || this.#isTableWord(word, INFLECTED)) return [word];
    for (let at = word.length - 2; at >= 2; at--) {
      const [left, right] = [word.slice(0, at), word.slice(at)];
      if (this.#idWords.has(right) && this.#isKnownWord(left)) return [left, right];
      if (this.#idWords.has(left) && this.#isTableWord(right, INFLECTED)) return [left, right];
      // mainsupplierno: a role, a table and an id word.
      const parts = this.#idWords.has(right) && left.length >= 6 ? this.#findSeam(left) : [];
      if (parts.length > 1) return [...parts, right];
    }
    for (let at = 3; at <= word.length - 4; at++) {
      const right = word.slice(at);
      if (this.#isTableWord(right, INFLECTED)) return [word.slice(0, at), right];
    }
    for (let at = 3; at <= word.length - 4; at++) {
      const right = word.slice(at);
      if (this.#knownStems.has(right)) return [word.slice(0, at), right];
    }
    return [word];
  }

  /** Abbreviations of tables in keys: `phys` of `PHYSID`. */
  readonly #knownStems = new Set<string>();

  #isKnownWord(word: string): boolean {
    return HIERARCHY_WORDS.has(word) || RANK_WORDS.has(word) || this.#isTableWord(word, word.length >= 3 ? 0.78 : 1);
  }

  #isTableWord(word: string, enough: number): boolean {
    if (this.#tableWords.has(word)) return true;
    return (this.#tableWordsByStart.get(word.slice(0, 1)) ?? []).some((known) => this.likeness(word, known) >= enough);
  }

  /** The recurring rest of leading columns' names without the table's words is an id word. */
  #learnIdWords(tables: readonly TableFacts[]): void {
    const counts = new Map<string, number>();
    const keyNames = new Map<string, number>();
    for (const table of tables) {
      const [first] = table.columns;
      if (!first) continue;
      const words = wordsOf(first.name);
      const own = wordsOf(table.name.name);
      const rest = words.filter((word) => !own.some((mine) => this.likeness(word, mine) >= 0.78));
      const glued = words.length === 1 ? gluedRest(words[0]!, own) : undefined;
      const learnt = glued ?? (rest.length === 1 && rest.length < words.length ? rest[0] : undefined);
      if (learnt && !this.#tableWords.has(learnt)) counts.set(learnt, (counts.get(learnt) ?? 0) + 1);
      const [alone = ""] = words.length === 1 ? words : [];
      if (alone && alone.length <= 3 && isKey(first) && !this.#tableWords.has(alone))
        keyNames.set(alone, (keyNames.get(alone) ?? 0) + 1);
    }
    // Every table's key is called `k`.
    for (const [word, count] of keyNames) if (count >= Math.max(3, tables.length * 0.5)) this.#idWords.add(word);
    for (const [word, count] of counts) if (count >= Math.max(2, tables.length * 0.1)) this.#idWords.add(word);
    for (const table of tables) {
      for (const word of wordsOf(table.columns[0]?.name ?? "").flatMap((each) => this.#findSeam(each))) {
        const own = this.entitiesOf(table)[0]?.words ?? [];
        if (word.length >= 4 && !this.#idWords.has(word) && own.some((mine) => this.likeness(word, mine) >= 0.78)) {
          this.#knownStems.add(word);
        }
      }
    }
  }
}

/** Whether a column alone identifies the rows of its table. */
const isKey = ({ table, name, profile }: ColumnFacts): boolean =>
  table.table.primaryKey.length > 0
    ? table.table.primaryKey.length === 1 && table.table.primaryKey[0] === name
    : profile?.unique === true;

/** 社員番号 in 社員: the part after the table's own name. */
function gluedRest(word: string, own: readonly string[]): string | undefined {
  const start = own.find((mine) => mine.length < word.length && mine.length >= 2 && word.startsWith(mine));
  const rest = start && word.slice(start.length);
  return rest && rest.length >= 2 && rest.length <= 8 ? rest : undefined;
}

/** tblorder, tblcustomer, tblproduct: a common beginning is a separate word. */
function partGluedPrefix(names: Map<TableFacts, string[]>): void {
  const firsts = [...names.values()].map(([first = ""]) => first);
  if (firsts.length < 4) return;
  const [shortest = ""] = firsts.toSorted((a, b) => a.length - b.length);
  let length = Math.min(5, shortest.length - 2);
  while (length > 0 && !firsts.every((first) => first.startsWith(shortest.slice(0, length)))) length--;
  const prefix = shortest.slice(0, Math.max(0, length));
  if (!prefix || (prefix.length < 2 && !TABLE_DRESS.has(prefix))) return;
  for (const [table, [first = "", ...rest]] of names) names.set(table, [prefix, first.slice(prefix.length), ...rest]);
}

interface Dress {
  first: ReadonlySet<string>;
  last: ReadonlySet<string>;
}

/** Common first or last words of several tables that are no table themselves: `crm_`, `tbl`, `_master`. */
function commonDress(names: readonly (readonly string[])[]): Dress {
  const alone = names.filter((words) => words.length === 1).map((words) => words[0]!);
  const isThing = (word: string) => alone.some((name) => likeness(word, name) >= INFLECTED);
  const recurring = (at: (words: readonly string[]) => string | undefined, least: number) => {
    const counts = new Map<string, number>();
    for (const words of names) {
      const word = words.length > 1 ? at(words) : undefined;
      if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const found = [...counts].filter(([word, count]) => TABLE_DRESS.has(word) || (count >= least && !isThing(word)));
    return new Set(found.map(([word]) => word));
  };
  return {
    first: recurring((words) => words[0], Math.max(3, names.length * 0.08)),
    last: recurring((words) => words.at(-1), Math.max(4, names.length * 0.6)),
  };
}

function undressed(words: readonly string[], { first, last }: Dress): EntityName[] {
  const found: EntityName[] = [{ words, quality: 1 }];
  let bare = words;
  // asset_12 without its prefix would be named by every attr_12.
  while (bare.length > 1 && first.has(bare[0]!) && bare.slice(1).some((word) => /\p{L}/u.test(word)))
    bare = bare.slice(1);
  if (bare.length < words.length) found.push({ words: bare, quality: 0.99 });
  if (bare.length > 1 && last.has(bare.at(-1)!)) found.push({ words: bare.slice(0, -1), quality: 0.97 });
  return found;
}

/** `c_` in c_custkey, c_name, c_address; `emp_` in emp_id, emp_name. */
function columnPrefix(table: TableFacts): string | undefined {
  if (table.columns.length < 3) return undefined;
  const firsts = table.columns.map(({ name }) => wordsOf(name)).map((words) => (words.length > 1 ? words[0]! : ""));
  const [prefix = ""] = firsts;
  const share = firsts.filter((word) => word === prefix).length / firsts.length;
  return prefix && !ID_WORDS.has(prefix) && share >= (firsts.length > 3 ? 0.8 : 1) ? prefix : undefined;
}

/** OH in OHORD, OHCUST and OHDATE of one table, OD in another: a convention if several tables have it. */
function gluedPrefixes(tables: readonly TableFacts[]): Map<TableFacts, string> {
  const found = new Map<TableFacts, string>();
  for (const table of tables) {
    const [first = "", ...rest] = table.columns.map(({ name }) => wordsOf(name)[0] ?? "");
    if (rest.length < 2) continue;
    let length = Math.min(3, ...[first, ...rest].map((word) => word.length - 2));
    while (length > 1 && !rest.every((word) => word.startsWith(first.slice(0, length)))) length--;
    if (length > 1 && !ID_WORDS.has(first.slice(0, length))) found.set(table, first.slice(0, length));
  }
  return found.size > 1 && found.size >= tables.length * 0.3 ? found : new Map();
}

/** ORDHDR is the header of an order, CUSTMAST the master of customers. */
function partGluedEnds(names: Map<TableFacts, string[]>): void {
  const parted = [...names].flatMap(([table, words]): [TableFacts, string[]][] => {
    const last = words.at(-1) ?? "";
    const end = [...GLUED_ENDS].find((each) => last.endsWith(each) && last.length >= each.length + 2);
    return end ? [[table, [...words.slice(0, -1), last.slice(0, -end.length), end]]] : [];
  });
  if (parted.length > 1) for (const [table, words] of parted) names.set(table, words);
}

/** order_notes is a satellite of orders. */
export function isSatellite(table: TableFacts, of: TableFacts, vocabulary: Vocabulary): boolean {
  return vocabulary
    .entitiesOf(of)
    .some(({ words }) =>
      vocabulary
        .entitiesOf(table)
        .some(
          (mine) =>
            mine.words.length > words.length &&
            words.every((word, i) => vocabulary.likeness(mine.words[i]!, word) >= 0.96),
        ),
    );
}
