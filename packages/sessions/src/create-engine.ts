import { mkdir, realpath } from "node:fs/promises";
import type { Store } from "@tandem/storage";
import { AllowedRoots } from "@tandem/workspace";
import { AgentCatalogue } from "./agents.ts";
import { Auditor } from "./audit/auditor.ts";
import { BudgetCompanion } from "./budgets/budget-companion.ts";
import { Budgets } from "./budgets/budgets.ts";
import { createEmergency } from "./budgets/emergency.ts";
import { KillSwitch } from "./budgets/kill-switch.ts";
import { LimitBook } from "./budgets/limit-book.ts";
import { SessionCommands } from "./commands/session-commands.ts";
import { DeltaHub } from "./delta-hub.ts";
import type { EngineSettings, SpendingSettings } from "./engine-settings.ts";
import type { Engine } from "./engine.ts";
import { EnvironmentCatalogue } from "./environments.ts";
import { FileCatalogue } from "./files.ts";
import { SessionActors } from "./session-actors.ts";
import { SessionPlaces } from "./session-places.ts";
import { SessionService } from "./session-service.ts";
import type { Accompany } from "./turn-companion.ts";

export async function createEngine(store: Store, settings: EngineSettings): Promise<Engine> {
  await mkdir(settings.stateFolder, { recursive: true, mode: 0o700 });
  // Folders of sessions are known by their real paths.
  const stateFolder = await realpath(settings.stateFolder);
  const roots = await AllowedRoots.open(settings.roots);
  const deltas = new DeltaHub();
  const audit = new Auditor(store, settings.log);
  const killSwitch = new KillSwitch(store.records);
  const spending = settings.spending ?? unlimited(settings.roots[0]!);
  const book = new LimitBook(store.records, spending.limits);
  const accompany: Accompany = (control) => [
    killSwitch.companion,
    new BudgetCompanion({ store, book, settings: spending, control }),
  ];
  const commands = new SessionCommands({
    ...{ events: store.events, files: store.files, stateFolder },
    rules: { bookOf: async () => ({ judge: () => undefined, suggest: () => undefined }) },
    isTrusted: async (folder) => (await settings.trustOf?.(folder))?.trusted ?? false,
    hostVariables: settings.hostVariables,
    userFolders: settings.commandFolders ?? [],
  });
  const actors = new SessionActors(store, settings, deltas, {
    ...{ accompany, commands },
    halted: () => killSwitch.state(),
  });
  const agents = new AgentCatalogue(store.agents, settings.models);
  const places = new SessionPlaces(roots, stateFolder);
  const environments = new EnvironmentCatalogue(store.environments, places, settings.roots[0]!);
  return {
    agents,
    environments,
    sessions: new SessionService({
      store,
      agents,
      environments,
      places,
      actors,
      audit,
      commands,
      killSwitch,
      deltas,
      // Loaded where it is used: commands that only look at sessions are quicker without it.
      forget: async (id) => {
        const { forgetConversation } = await import("@tandem/claude-code");
        await forgetConversation({ ...settings, credential: await settings.credential() }, id);
      },
    }),
    files: new FileCatalogue(store.files),
    budgets: new Budgets(store, book, spending),
    killSwitch: createEmergency(store, killSwitch, actors),
    audit,
    models: settings.models,
    async start() {
      // A Claude Code that a dead server left must be gone before its session is taken up by another.
      await settings.sweep();
      audit.start();
      await actors.start();
    },
    async stop(deadlineMs) {
      await actors.stop(deadlineMs);
      await audit.stop();
    },
  };
}

const unlimited = (project: string): SpendingSettings => ({
  limits: { turn: {}, session: {}, agent: {}, project: {}, day: {} },
  project,
  payer: async () => null,
});
