import {
  BY_WORDS,
  HIERARCHY_WORDS,
  PERSON_COLUMN_WORDS,
  PERSON_ROLES,
  PREPOSITIONS,
  PROFESSION_WORDS,
  RANK_WORDS,
  SHORT_HIERARCHY_WORDS,
  STAFF_WORDS,
} from "./lexicon.ts";
import type { ColumnFacts, TableFacts } from "../data/table-facts.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { INFLECTED, wordsOf } from "./name-words.ts";

const AGENT_ENDING = /(?<!numb|ord|lett|fold|chapt|lay|lev|numm|paramet|col|fact|sect|vect)(er|or|ee|eur|ist)$/;

/** How much a column's name looks like a reference to an unnamed target: 0 to 1. */
export function readsLikeReference(column: ColumnFacts, vocabulary: Vocabulary): number {
  const readings = vocabulary.read(column);
  if (readings.some(({ entity, idWords }) => entity.length > 0 && idWords.length > 0)) return 1;
  if (column.kind === "decimal" || column.kind === "date" || column.kind === "time") return 0;
  const words = readings.at(-1)?.words ?? [];
  if (words.length > 1 && PREPOSITIONS.has(words.at(-1)!)) return 0.8;
  if (words.some((word) => isRole(word)) || (words.length > 0 && AGENT_ENDING.test(words.at(-1)!))) return 0.7;
  return 0;
}

const isRole = (word: string): boolean => HIERARCHY_WORDS.has(word) || RANK_WORDS.has(word) || PERSON_ROLES.has(word);

/** Whether a column's name contains a role at all: most do not, and need no comparison with tables. */
export function hasRole(column: ColumnFacts, vocabulary: Vocabulary): boolean {
  const { words, entity } = vocabulary.read(column).at(-1)!;
  return (
    words.some((word) => isRole(word) || BY_WORDS.has(word)) ||
    AGENT_ENDING.test(entity.at(-1) ?? "") ||
    isShortHierarchy(entity)
  );
}

const isShortHierarchy = (entity: readonly string[]): boolean =>
  entity.length === 1 && SHORT_HIERARCHY_WORDS.has(entity[0]!);

/** Evidence from a role if no name tells the target. */
export function roleEvidence(
  column: ColumnFacts,
  target: TableFacts,
  vocabulary: Vocabulary,
): { points: number; says: string } {
  const { words, entity } = vocabulary.read(column).at(-1)!;
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  const self = column.table === target;
  const person = personLikeness(target, vocabulary);
  if (has(HIERARCHY_WORDS) || isShortHierarchy(entity)) {
    // A parent with another name than the table's rows may still be one.
    const rest = entity.filter((word) => !isRole(word) && !PREPOSITIONS.has(word));
    const own = vocabulary.entitiesOf(target).flatMap((name) => name.words);
    const alien = rest.length > 0 && !rest.some((word) => own.some((mine) => vocabulary.likeness(word, mine) >= 0.78));
    return self ? { points: alien ? 2 : 4, says: `"${entity.join(" ")}" tells of a hierarchy` } : NOTHING;
  }
  if (has(RANK_WORDS) && self && person > 0) return { points: 4, says: `"${entity.join(" ")}" tells of a hierarchy` };
  const agent = entity.length > 0 && AGENT_ENDING.test(entity.at(-1)!);
  if (person > 0 && !self && (has(RANK_WORDS) || has(PERSON_ROLES) || agent)) {
    const points = (has(RANK_WORDS) || has(PERSON_ROLES) ? 3 : 2) * person;
    return { points, says: `"${entity.join(" ")}" is a role of persons, and these are persons` };
  }
  // A person table by its name's ending: editors, passengers.
  const isDoer = vocabulary.entitiesOf(target).some((name) => AGENT_ENDING.test(singular(name.words.at(-1) ?? "")));
  if (person === 0 && !self && isDoer && words.length > 1 && BY_WORDS.has(words.at(-1)!)) {
    return { points: 1, says: `"${words.join(" ")}" asks who did it` };
  }
  if (person === 1 && self && has(PERSON_ROLES))
    return { points: 3, says: `"${entity.join(" ")}" is a role of persons` };
  return NOTHING;
}

const NOTHING = { points: 0, says: "" };
const singular = (word: string): string => word.replace(/e?s$/, "");

const known = new WeakMap<TableFacts, number>();

/** 1 for tables of employees, users and the like; less for others with columns of people. */
export function personLikeness(table: TableFacts, vocabulary: Vocabulary): number {
  let likeness = known.get(table);
  if (likeness === undefined) known.set(table, (likeness = measurePersons(table, vocabulary)));
  return likeness;
}

function measurePersons(table: TableFacts, vocabulary: Vocabulary): number {
  const names = vocabulary.entitiesOf(table);
  const isStaff = ({ words }: { words: readonly string[] }) =>
    words.length <= 2 && [...STAFF_WORDS].some((word) => vocabulary.likeness(words.at(-1)!, word) >= INFLECTED);
  if (names.some(isStaff)) return 1;
  const hasProfession = ({ words }: { words: readonly string[] }) =>
    words.length <= 2 && [...PROFESSION_WORDS].some((word) => vocabulary.likeness(words.at(-1)!, word) >= INFLECTED);
  if (names.some(hasProfession)) return 0.8;
  const columns = table.columns.filter(({ name }) => wordsOf(name).some((word) => PERSON_COLUMN_WORDS.has(word)));
  return columns.length >= 2 ? 0.6 : columns.length === 1 ? 0.4 : 0;
}
