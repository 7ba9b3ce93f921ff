import { ENVIRONMENT_METADATA, RequestError, type AuditNote } from "@tandem/protocol";
import type { SecretBox, Store } from "@tandem/storage";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import type { FleetMembership } from "../fleet/fleet-settings.ts";
import { fits, placeWanted } from "../fleet/place.ts";
import type { HostSettings } from "../host/host-settings.ts";
import type { ModelSettings } from "../process/turn-options.ts";
import type { AgentCatalogue } from "../resources/agents.ts";
import type { EnvironmentCatalogue } from "../resources/environments.ts";
import type { SessionPlaces } from "../resources/session-places.ts";
import type { SessionService } from "../resources/session-service.ts";
import { TriggerRecords } from "../triggers/trigger-records.ts";
import { TriggerService } from "../triggers/trigger-service.ts";
import { DeploymentRecords } from "./deployment-records.ts";
import { DeploymentService } from "./deployment-service.ts";
import { DueRuns } from "./due-runs.ts";
import { ResourceTokens } from "./resource-tokens.ts";
import { RunStarter } from "./run-starter.ts";
import { Scheduler } from "./scheduler.ts";

interface DeploymentParts {
  store: Store;
  agents: AgentCatalogue;
  environments: EnvironmentCatalogue;
  places: SessionPlaces;
  sessions: SessionService;
  secrets: SecretBox;
  killSwitch: KillSwitch;
  note: (note: AuditNote) => Promise<void>;
  settings: HostSettings & FleetMembership & Pick<ModelSettings, "permissionMode">;
}

/** Deployments, and the scheduler that starts them. */
export function createDeployments(parts: DeploymentParts): {
  deployments: DeploymentService;
  triggers: TriggerService;
  scheduler: Scheduler;
} {
  const { store, agents, sessions, secrets, killSwitch, note, settings } = parts;
  const { clock, log } = settings;
  const records = new DeploymentRecords(store.records);
  const tokens = new ResourceTokens(secrets);
  const starter = new RunStarter({ records, sessions, store, agents, tokens, clock });
  const halted = () => killSwitch.state();
  const due = new DueRuns({ records, agents, halted, fits: fitsHere(parts), clock });
  const scheduler = new Scheduler({ records, due, starter, log, clock });
  const deployments = new DeploymentService({
    records,
    agents,
    sessions,
    starter,
    tokens,
    refuseIfStopped: () => killSwitch.refuse(),
    reschedule: () => void scheduler.look(),
    note,
    permissionMode: settings.permissionMode ?? "default",
    clock,
  });
  const triggers = new TriggerService({
    records: new TriggerRecords(store.records),
    deployment: async (id) => {
      const { value } = await records.get(id);
      const { archivedAt, paused } = value;
      return { archivedAt, isPaused: paused !== null, enqueue: (run) => deployments.enqueue(value, run) };
    },
    secrets,
    note,
    log,
    clock,
  });
  return { deployments, triggers, scheduler };
}

/** Outside of a fleet there is no other process to leave a run to. */
function fitsHere({ environments, places, settings: { fleet } }: DeploymentParts) {
  return async (environmentId: string): Promise<boolean> => {
    if (!fleet) return true;
    try {
      const environment = await environments.get(environmentId);
      const folder = environment.metadata[ENVIRONMENT_METADATA.path];
      if (folder !== undefined) await places.resolve(folder);
      const place = placeWanted(environment) ?? null;
      return fits({ ...fleet.worker, role: fleet.role }, place, fleet.tenant);
    } catch (error) {
      // The run records that the environment is gone; a folder may be on another machine.
      if (error instanceof RequestError) return error.detail === "environment_not_found";
      throw error;
    }
  };
}
