export { type Findings, findRelationships } from "./find-relationships.ts";
export { profileTables, type ProfileFailure } from "./data/profile-tables.ts";
export { type ColumnProfile, coverageOf, type TableProfile, type VerifiedKey } from "./data/profile.ts";
export type { NotCompared } from "./data/prober.ts";
export type { JoinEnd, Relationship, Suggestion } from "./relationship.ts";
export { wordsOf } from "./names/name-words.ts";
export { type JoinPath, joinPaths, type JoinStep } from "./join-path.ts";
