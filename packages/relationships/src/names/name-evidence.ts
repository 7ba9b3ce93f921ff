import { DESCRIPTIVE_WORDS, MEASURE_WORDS } from "./lexicon.ts";
import type { ColumnFacts } from "../data/table-facts.ts";
import { isMainFor, type Key } from "../data/key.ts";
import type { EntityName, ReadName, Vocabulary } from "./vocabulary.ts";
import { INFLECTED } from "./name-words.ts";

/** Evidence from names that a column refers to a key: 0 none, 1 clear. */
export interface NameEvidence {
  score: number;
  /** The rest of the sentence "Its name …". */
  says: string;
  /** Additional words: the role of the target. */
  role: readonly string[];
}

const NOTHING: NameEvidence = { score: 0, says: "", role: [] };
const BARE: NameEvidence = { score: 0.6, says: "is the key's own, which says no more", role: [] };
const sameWords = (a: ReadName, b: ReadName): boolean => a.words.join(" ") === b.words.join(" ");

/** `commonness`: number of tables with this generic key name. */
export function nameEvidence(from: ColumnFacts, key: Key, vocabulary: Vocabulary, commonness = 1): NameEvidence {
  const [target] = key.columns;
  if (!target || key.columns.length > 1) return NOTHING;
  let best = NOTHING;
  for (const name of vocabulary.read(from)) {
    if (isPlainMeasure(name, key, target, vocabulary)) continue;
    const byKey = byKeyName(name, target, key, vocabulary);
    if (commonness > 1) byKey.score *= commonness > 2 ? 0.4 : 0.9;
    const one = withoutOrdinal(name);
    const byTable = [name, ...(one ? [one] : [])].map((each) => byTableName(each, from, target, key, vocabulary));
    for (const found of [byKey, ...byTable]) if (found.score > best.score) best = found;
  }
  return best;
}

/** `player_a` and `player_b` are players, `team2` is a team. */
export function withoutOrdinal(name: ReadName): ReadName | undefined {
  const { entity } = name;
  const isOrdinal = entity.length > 1 && /^([a-z]|\d{1,2})$/.test(entity.at(-1)!);
  return isOrdinal ? { ...name, entity: entity.slice(0, -1) } : undefined;
}

/** `age` is not short for agent, nor `count` for contract. */
function isPlainMeasure(name: ReadName, key: Key, target: ColumnFacts, vocabulary: Vocabulary): boolean {
  const last = name.entity.at(-1);
  if (last === undefined || name.idWords.length > 0 || !MEASURE_WORDS.has(last)) return false;
  const theirs = [...vocabulary.entitiesOf(key.table), ...vocabulary.read(target)].flatMap(({ words }) => words);
  return !theirs.some((word) => vocabulary.likeness(last, word) >= INFLECTED);
}

/** `isbn` for books.isbn, `reviewer_email` for users.email, `cust_no` for customers.customer_number. */
function byKeyName(name: ReadName, target: ColumnFacts, key: Key, vocabulary: Vocabulary): NameEvidence {
  let best = { ...NOTHING };
  for (const theirs of vocabulary.read(target)) {
    // A common `ref` is weak evidence, which values may confirm; a counting `id` is none.
    const isBare = theirs.entity.length === 0 && name.entity.length === 0;
    if (isBare && target.kind !== "integer" && sameWords(name, theirs)) best = { ...BARE };
    if (theirs.entity.length === 0) continue;
    const entity = tailLikeness(name.entity, theirs.entity, vocabulary);
    if (entity.score === 0) continue;
    const ids = idWordLikeness(name, theirs);
    const plain = theirs.idWords.length === 0 && theirs.entity.every((word) => DESCRIPTIVE_WORDS.has(word));
    const role = name.entity.slice(0, name.entity.length - theirs.entity.length);
    let score = entity.score * ids * roleFactor(role, name) * (plain ? 0.5 : 1);
    // A key name with a table's words belongs to that table; elsewhere it is a reference itself.
    const owned = theirs.idWords.length > 0 ? ownership(theirs, key.table, vocabulary) : 1;
    score *= owned >= 0.8 ? 1 : owned >= 0.45 ? 0.93 : 0.86;
    if (!key.primary) score *= owned >= 0.8 ? 0.92 : 0.8;
    if (score > best.score) {
      const says = entity.score * ids === 1 ? "is the key's own" : "is a form of the key's own";
      best = { score, says: role.length > 0 ? `${says} with a role (${role.join(" ")})` : says, role };
    }
  }
  return best;
}

/** `customer_id` for customers.id, `dept` for department, `billing_address_id`, `orders.status` for order_statuses. */
function byTableName(
  name: ReadName,
  from: ColumnFacts,
  target: ColumnFacts,
  key: Key,
  vocabulary: Vocabulary,
): NameEvidence {
  if (!isMainFor(key, from) && !vocabulary.read(target).some((theirs) => endsLike(name.words, theirs.words))) {
    return NOTHING;
  }
  if (name.entity.length === 0) return NOTHING;
  let best = NOTHING;
  const offer = (score: number, says: string, role: readonly string[] = []) => {
    // A column named like its own table numbers or describes its row: `line` in order_lines.
    if (from.table === key.table && role.length === 0) return;
    if (score > best.score) best = { score, says, role };
  };
  const theirs = vocabulary.read(target).at(-1)!;
  const counts = name.idWords.length === 0 && from.kind === "integer" && PLURAL.test(name.entity.at(-1)!);
  const suffix = name.idWords.length > 0 ? Math.max(0.95, idWordLikeness(name, theirs)) : counts ? 0.55 : 0.86;
  for (const entity of vocabulary.entitiesOf(key.table)) {
    const tail = tailLikeness(name.entity, entity.words, vocabulary);
    if (tail.score > 0) {
      const role = name.entity.slice(0, name.entity.length - tail.taken);
      offer(tail.score * entity.quality * suffix * roleFactor(role, name), sayOf(tail.score, role), role);
    }
    // service_entree for services, where modifiers follow.
    if (vocabulary.isHeadFirst && name.entity.length > entity.words.length) {
      const head = tailLikeness(name.entity.slice(0, entity.words.length), entity.words, vocabulary);
      const role = name.entity.slice(entity.words.length);
      offer(head.score * entity.quality * suffix * roleFactor(role, name), sayOf(head.score, role), role);
    }
    // country_code for country.code: the id word is the key's own name.
    if (entity.words.length < name.words.length) {
      const whole = tailLikeness(name.words, [...entity.words, ...theirs.words], vocabulary);
      const role = name.words.slice(0, name.words.length - whole.taken);
      const plain = theirs.words.every((word) => DESCRIPTIVE_WORDS.has(word)) ? 0.6 : 1;
      offer(
        whole.score * entity.quality * roleFactor(role, name) * plain,
        "is the table's name with that of its key",
        role,
      );
    }
    if (from.table !== key.table) {
      for (const own of vocabulary.entitiesOf(from.table)) {
        const context = wholeLikeness([...own.words, ...name.entity], entity.words, vocabulary);
        offer(context * entity.quality * suffix * 0.95, "together with its own table's name is that of the table");
      }
    }
    // line_no in order_lines is its own number, not a reference to another table of lines.
    const part = partLikeness(name, entity, vocabulary);
    const own = part > 0 && from.table !== key.table ? ownership(name, from.table, vocabulary) : 0;
    offer(part * suffix * (own >= part ? 0.5 : 1), "is part of the table's name");
  }
  return best;
}

/** `UpVotes` counts votes and does not reference one. */
const PLURAL = /(?<![siu])s$/;

const sayOf = (score: number, role: readonly string[]): string =>
  `${score >= 0.95 ? "names the table" : "is short for the table"}${role.length > 0 ? ` with a role (${role.join(" ")})` : ""}`;

/** Roles are common with id words (`billing_address_id`) and rarer without (`home_country`). */
function roleFactor(role: readonly string[], { idWords }: ReadName): number {
  if (role.length === 0) return 1;
  if (idWords.length > 0) return 0.95 - 0.03 * (role.length - 1);
  // UnitsOnOrder is a count, not an order.
  return role.some((word) => MEASURE_WORDS.has(word)) ? 0.5 : 0.92 - 0.03 * (role.length - 1);
}

/** Similarity of the last words of one to the other; words may be joined. */
function tailLikeness(
  words: readonly string[],
  tail: readonly string[],
  vocabulary: Vocabulary,
): { score: number; taken: number } {
  let best = { score: 0, taken: tail.length };
  if (tail.length > 0 && words.length >= tail.length) {
    const last = words.slice(-tail.length);
    best.score = Math.min(...tail.map((word, i) => vocabulary.likeness(last[i]!, word)));
    // Several abbreviated words are less certain than one.
    if (best.score < 0.95 && tail.length > 1) {
      const mean = tail.reduce((sum, word, i) => sum + vocabulary.likeness(last[i]!, word), 0) / tail.length;
      best.score = best.score > 0 ? Math.min(0.95, (best.score + mean) / 2) : 0;
    }
  }
  if (best.score < 0.95 && (tail.length > 1 || words.length > 1)) {
    for (let taken = 1; taken <= Math.min(3, words.length); taken++) {
      if (taken === 1 && tail.length === 1) continue;
      const score = vocabulary.likeness(words.slice(-taken).join(""), tail.join(""));
      if (score >= 0.95 && score > best.score) best = { score: score * 0.99, taken };
    }
  }
  return best;
}

const wholeLikeness = (words: readonly string[], other: readonly string[], vocabulary: Vocabulary): number =>
  words.length === other.length ? tailLikeness(words, other, vocabulary).score : 0;

const HAS_LETTER = /\p{L}/u;

/** `category` for product_category, `order` for order_header, `po` for purchase_order. */
function partLikeness(name: ReadName, { words }: EntityName, vocabulary: Vocabulary): number {
  const { entity, idWords } = name;
  if (words.length < 2 || entity.length === 0) return 0;
  if (
    entity.length === 1 &&
    entity[0]!.length === words.length &&
    words.every((word, i) => word[0] === entity[0]![i])
  ) {
    return idWords.length > 0 ? 0.74 : 0.6;
  }
  // attr_12 is not named after asset_12.
  const head = HAS_LETTER.test(words.at(-1)!) ? vocabulary.likeness(entity.at(-1)!, words.at(-1)!) : 0;
  const first = entity.length === 1 ? vocabulary.likeness(entity[0]!, words[0]!) : 0;
  return Math.max(head * (entity.length === 1 ? 0.78 : 0.72 * roleFactor(entity.slice(0, -1), name)), first * 0.72);
}

/** 1 for equal id words; less for `no` versus `id`, or if one is missing. */
function idWordLikeness(a: ReadName, b: ReadName): number {
  if (a.idWords.length === 0 && b.idWords.length === 0) return 1;
  if (a.idWords.length === 0 || b.idWords.length === 0) return 0.86;
  return a.idWords.join(" ") === b.idWords.join(" ") ? 1 : 0.96;
}

const endsLike = (words: readonly string[], tail: readonly string[]): boolean =>
  words.length >= tail.length && tail.every((word, i) => words[words.length - tail.length + i] === word);

/** How much a key's words are its table's: `customer_id` fits customers better than customer_details. */
export function ownership(key: ReadName, table: Key["table"], vocabulary: Vocabulary): number {
  if (key.entity.length === 0) return 1;
  const scores = vocabulary
    .entitiesOf(table)
    .map(({ words }) =>
      Math.max(
        tailLikeness(key.entity, words, vocabulary).score,
        tailLikeness(words, key.entity, vocabulary).score * (words.length > key.entity.length ? 0.86 : 1),
        partLikeness(key, { words, quality: 1 }, vocabulary),
      ),
    );
  return Math.max(0, ...scores);
}
