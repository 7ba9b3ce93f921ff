import type { Candidate } from "./join-candidates.ts";
import { MEASURE_WORDS } from "./names/lexicon.ts";
import type { Overlap } from "./data/overlap.ts";
import { personLikeness, readsLikeReference, roleEvidence } from "./names/roles.ts";
import type { SelfOrder } from "./self-orders.ts";
import { type ColumnFacts, kindFit, type TableFacts } from "./data/table-facts.ts";
import { isMainFor } from "./data/key.ts";
import { counts, staysInCorner, valueEvidence } from "./data/value-evidence.ts";
import { isSatellite, type Vocabulary } from "./names/vocabulary.ts";
import { wordsOf } from "./names/name-words.ts";

/** Facts learnt from the clear cases of this schema. */
export interface SchemaFacts {
  vocabulary: Vocabulary;
  /** 0: names say nothing here; 1: references are named after their targets. */
  namesTell: number;
  /** Tables that are named by references. */
  claimed: ReadonlySet<TableFacts>;
  /** Number of keys that count 1, 2, 3 …: the more, the likelier a coincidental range match. */
  countingKeys: number;
  /** Number of tables of people who act. */
  staffTables: number;
  /** Copies of other tables: archives, backups. */
  copies: ReadonlySet<TableFacts>;
  /** For possible self-references: their values relative to the row's own key. */
  selfOrder: ReadonlyMap<ColumnFacts, SelfOrder>;
}

export interface Judgement {
  points: number;
  confidence: number;
  why: string[];
  telling: boolean;
  /** Values of both columns were compared, or the referring column is empty. Others are never accepted. */
  isCompared: boolean;
}

/** Points (log odds): 2 suffices to accept, about six to one. */
export const ACCEPT_POINTS = 2;
export const REVIEW_POINTS = 0.5;

const NAMED = 0.5;
export const isNamed = ({ name }: Candidate): boolean => name.score >= NAMED;

export function judge(candidate: Candidate, overlap: Overlap | undefined, around: SchemaFacts): Judgement {
  const { from, to, key, name, suggestion } = candidate;
  const why: string[] = [];
  let points = 0;
  let inRole = false;
  const add = (more: number, sentence?: string) => {
    points += more;
    if (sentence) why.push(sentence);
  };
  if (isNamed(candidate)) {
    add((name.score - NAMED) * 10, `Its name ${name.says}.`);
    if (suggestion) add(1, suggestion);
  } else if (suggestion) add(2.5, suggestion);
  else inRole = withoutName(candidate, around, add);

  let telling = false;
  let isCompared = false;
  if (from.profile === undefined) add(-0.7, "Its values could not be read.");
  else if (to.profile === undefined) add(-0.7, "The values of the other column could not be read.");
  else if (from.filled === 0) {
    isCompared = true;
    add(-0.7, "It has no values yet: its name and type must do.");
  } else if (overlap) {
    isCompared = true;
    const values = valueEvidence(from, to, overlap, isNamed(candidate) || suggestion !== undefined || inRole);
    add(values.points, values.says);
    ({ telling } = values);
    const isPlain = around.vocabulary.read(from).every(({ idWords }) => idWords.length === 0);
    if (isNamed(candidate) && isPlain && staysInCorner(from, to)) {
      add(-2.5, "Its few values are the lowest of very many.");
    }
    const isByRange = !isNamed(candidate) && !suggestion && !inRole && counts(to);
    if (isByRange) add(-Math.min(3, Math.max(0, 0.5 * Math.log2(around.countingKeys / 8))));
  } else add(-1, "Its values were not compared.");

  if (key.primary) add(1);
  else if (key.unique === "counted") {
    // Attributes of the same name in two tables are often unique in one by chance.
    if (!isMainFor(key, from))
      add(telling ? -1.5 : -4, "The referenced column is unique so far, but not the table's main key.");
    else if (!telling)
      add(-2, "The referenced column is unique so far, but has another type than the table's main key.");
  }
  if (kindFit(from, to) < 1) add(-0.5, "The two are of different types.");
  if (from.table.name.schema !== to.table.name.schema) add(-0.4);
  else if (sharesPrefix(from.table, to.table)) add(0.3);
  if (around.copies.has(to.table)) add(-1.5, "The other table looks like a copy of another.");
  const order = from.table === to.table ? around.selfOrder.get(from) : undefined;
  if (order && order.rows > 0 && overlap?.found) selfReference(order, add);
  return { points, confidence: confidenceOf(points), why, telling, isCompared };
}

/** Found relationships are never as certain as declared ones. */
const confidenceOf = (points: number): number =>
  Math.min(0.99, Math.round(1000 / (1 + Math.exp(-0.95 * points))) / 1000);

/** Evidence for a column whose name does not contain the target; returns whether its role supports it. */
function withoutName(
  { from, to }: Candidate,
  around: SchemaFacts,
  add: (points: number, why?: string) => void,
): boolean {
  const { vocabulary, namesTell } = around;
  const reads = readsLikeReference(from, vocabulary);
  // If names are telling elsewhere, a missing name is evidence against it.
  if (reads >= 1) add(-2, "Its name says that it identifies something, not what.");
  else if (reads > 0) add(-2.2, "Its name may tell of a role.");
  else add(-1.2 - 2.8 * namesTell, "Its name does not tell what it refers to.");
  const measures = vocabulary.read(from).some(({ words }) => words.some((word) => MEASURE_WORDS.has(word)));
  if (measures && reads < 1) add(-2, "Its name is that of a measure or a state.");
  let inRole = false;
  if (reads > 0) {
    const role = roleEvidence(from, to.table, vocabulary);
    if (role.points) add(role.points, `${role.says}.`);
    inRole = role.points >= 2;
    if (inRole && around.staffTables === 1 && personLikeness(to.table, vocabulary) === 1)
      add(1, "There are no others.");
    if (!around.claimed.has(to.table)) add(1, "No other column names that table.");
    if (to.table !== from.table && isSatellite(from.table, to.table, vocabulary)) {
      add(1.5, "Its table's name begins with that of the other.");
    }
  }
  if (to.table === from.table && !inRole) add(-0.5);
  return inRole;
}

/** Parents are mostly older than their children, and never their own. */
function selfReference(
  { rows, same, before, contested }: SelfOrder,
  add: (points: number, why?: string) => void,
): void {
  if (same > rows * 0.05) return add(-2, "Some rows would refer to themselves.");
  if (rows >= 4 && before === rows)
    return add(
      Math.min(2, rows * 0.3) + Math.min(1.5, contested * 0.1),
      "Every row refers to an earlier one of the same table.",
    );
  if (same === 0 && rows >= 5) add(0.5, "No row refers to itself.");
}

/** Two tables of one part of the schema: crm_order and crm_customer. */
export function sharesPrefix(a: TableFacts, b: TableFacts): boolean {
  const [first, second] = [wordsOf(a.name.name), wordsOf(b.name.name)];
  return first.length > 1 && second.length > 1 && first[0] === second[0];
}
