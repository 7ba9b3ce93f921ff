/** The optional capabilities that a client has declared. */
export interface ClientAbilities {
  notices: boolean;
  compaction: boolean;
  forms: boolean;
  subagents: boolean;
}
