/** opencode's clients group models by provider; all models of Claude Code are in one. */
export const PROVIDER = "tandem";
