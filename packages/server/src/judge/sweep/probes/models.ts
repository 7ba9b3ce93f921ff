import type { Probes } from "../probe.ts";

const note = "what Claude Code does not tell (capabilities, limits) is null, and `created_at` is 1970-01-01";

export const models: Probes = {
  "beta.models.retrieve": {
    run: (client) => client.beta.models.retrieve("claude-sonnet-5-5"),
    note: `by id or alias; ${note}`,
  },
  "beta.models.list": { run: (client) => client.beta.models.list(), note },
  "models.retrieve": (client) => client.models.retrieve("claude-sonnet-5-5"),
  "models.list": (client) => client.models.list(),
};
