export {
  type FindInput,
  type FindOptions,
  type FindProgress,
  type Findings,
  findRelationships,
} from "./find-relationships.ts";
export { profileTables, type ProfileFailure, type ProfileOptions } from "./data/profile-tables.ts";
export { type ColumnProfile, type Coverage, coverageOf, type TableProfile, type VerifiedKey } from "./data/profile.ts";
export type { NotCompared } from "./data/prober.ts";
export type { JoinEnd, Relationship, Suggestion } from "./relationship.ts";
export { wordsOf } from "./names/name-words.ts";
export { type InflatedTable, type JoinPath, joinPaths, type JoinPathOptions, type JoinStep } from "./join-path.ts";
