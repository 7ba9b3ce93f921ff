export {
  type FindInput,
  type FindOptions,
  type Findings,
  findRelationships,
  type FindStage,
} from "./find-relationships.ts";
export { profileTables, type ProfileFailure, type ProfileOptions } from "./data/profile-tables.ts";
export type { ColumnProfile, TableProfile } from "./data/profile.ts";
export type { JoinEnd, Relationship, Suggestion } from "./relationship.ts";
export { type JoinPath, joinPath, type JoinPathOptions, type JoinStep } from "./join-path.ts";
