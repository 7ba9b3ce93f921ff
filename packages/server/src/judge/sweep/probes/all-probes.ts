import type { Probes } from "../probe.ts";
import { agents } from "./agents.ts";
import { deployments } from "./deployments.ts";
import { environments } from "./environments.ts";
import { files } from "./files.ts";
import { memoryStores } from "./memory-stores.ts";
import { messages } from "./messages.ts";
import { models } from "./models.ts";
import { organizationWebhooks } from "./organization-webhooks.ts";
import { sessionEvents } from "./session-events.ts";
import { sessionResources } from "./session-resources.ts";
import { sessions } from "./sessions.ts";
import { sessionThreads } from "./session-threads.ts";
import { skills } from "./skills.ts";
import { vaults } from "./vaults.ts";
import { webhooks } from "./webhooks.ts";
import { work } from "./work.ts";

/** A method without a probe must be answered with 404. */
export const allProbes: Probes = {
  ...agents,
  ...environments,
  ...work,
  ...deployments,
  ...vaults,
  ...sessions,
  ...sessionEvents,
  ...sessionResources,
  ...sessionThreads,
  ...files,
  ...skills,
  ...memoryStores,
  ...models,
  ...messages,
  ...webhooks,
  ...organizationWebhooks,
};
