import type { Scenario } from "./scenario.ts";
import { subagentScenarios } from "./subagent-scenarios.ts";
import { toolScenarios } from "./tool-scenarios.ts";
import { turnScenarios } from "./turn-scenarios.ts";
import { workflowScenarios } from "./workflow-scenarios.ts";

export const scenarios: Record<string, Scenario> = {
  ...turnScenarios,
  ...toolScenarios,
  ...subagentScenarios,
  ...workflowScenarios,
};
