/** What is kept in a place. `address` and `headers` are no credentials, but say where one goes or carry one. */
export type CredentialKind =
  | "api_key"
  | "bearer_token"
  | "oauth_token"
  | "login"
  | "helper"
  | "headers"
  | "cloud"
  | "address";

/** Where one looks. */
type PlaceGroup = "environment" | "settings" | "state" | "login" | "keychain" | "others";

/** What is known of a login beside its tokens. Nothing in here is text from the file but words of closed lists. */
export interface LoginDetails {
  expiresAt?: Date;
  expired: boolean;
  /** Claude Code can renew it by itself. */
  renewable: boolean;
  plan?: string;
  scopes: readonly string[];
}

/** One place where a credential may be: its kind and its source, never what is there, nor any part of it. */
export interface CredentialPlace {
  /** Unique in a report: a variable's name, or a file and the key in it. */
  id: string;
  group: PlaceGroup;
  kind: CredentialKind;
  /** `unavailable`: this platform has no such place. What is there and empty is absent. */
  state: "found" | "absent" | "unreadable" | "malformed" | "unavailable";
  readBy: "claude_code" | "others" | "nobody";
  /** One sentence for people, where there is more to say than the state. */
  detail?: string;
  login?: LoginDetails;
}

/** Something that a person should know or mend. */
export interface CredentialNotice {
  about: string;
  text: string;
  fix?: string;
}

/** Places and what is to be said of them, as each reader finds them. */
export interface Found {
  places: CredentialPlace[];
  notices: CredentialNotice[];
}
