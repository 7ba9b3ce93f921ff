import { mkdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import type { HostServer } from "@tandem/claude-code";
import { type AuditNote, type SessionId, systemClock, type Clock } from "@tandem/protocol";
import { DEFAULT_TENANT, type Records, type Store } from "@tandem/storage";
import { AllowedRoots } from "@tandem/workspace";
import { AgentCatalogue } from "./resources/agents.ts";
import { servedAgents } from "./resources/served-agents.ts";
import { Auditor } from "./audit/auditor.ts";
import { Budgets } from "./budgets/budgets.ts";
import { createEmergency } from "./budgets/emergency.ts";
import { KillSwitch, type Halt } from "./budgets/kill-switch.ts";
import { QuotaRegistry } from "./budgets/quota-registry.ts";
import { forgetSession } from "./checkpoints/forget-session.ts";
import { CheckpointService } from "./checkpoints/checkpoint-service.ts";
import { exportCassette } from "./cassettes/export-cassette.ts";
import { SessionHistory } from "./checkpoints/session-history.ts";
import { SessionCommands } from "./commands/session-commands.ts";
import { ApprovalService } from "./approvals/approval-service.ts";
import { loadTurnCode } from "./actor/load-turn-code.ts";
import { ApprovalExpiry } from "./approvals/approval-expiry.ts";
import { createDeployments } from "./deployments/create-deployments.ts";
import { DeltaHub } from "./log/delta-hub.ts";
import { unlimitedSpending } from "./budgets/budget-settings.ts";
import { createTurnHooks } from "./create-turn-hooks.ts";
import type { EngineSettings } from "./engine-settings.ts";
import type { Engine } from "./engine.ts";
import { EnvironmentCatalogue } from "./resources/environments.ts";
import { FileCatalogue } from "./resources/files.ts";
import { AccountLimits } from "./fleet/account-limits.ts";
import { createFleet } from "./fleet/create-fleet.ts";
import { OwnLimits } from "./fleet/own-limits.ts";
import { TurnCounter } from "./fleet/throughput.ts";
import { OwnerUrls } from "./mcp/owner-urls.ts";
import { MemoryStoreCatalogue } from "./memory/memory-store-catalogue.ts";
import { MessagesService } from "./messages/messages-service.ts";
import { whyNoVariables } from "./process/open-sandbox.ts";
import { sandboxState } from "./sandbox/sandbox.ts";
import { HostGrants } from "./sandbox/host-grants.ts";
import { ToolDefinitions } from "./mcp/tool-definitions.ts";
import { limitStore } from "./quotas/limit-store.ts";
import { forgetOutputs } from "./mounts/collect-outputs.ts";
import { forgetMemoryMounts } from "./mounts/mount-memories.ts";
import { createRepositoryMounts } from "./mounts/create-repository-mounts.ts";
import { SessionMounts } from "./mounts/session-mounts.ts";
import { TurnQuota } from "./quotas/turn-quota.ts";
import { openCommandSandbox } from "./sandbox/command-sandbox.ts";
import { prunePackages } from "./sandbox/environment-packages.ts";
import { sweepSocketFolders } from "./sandbox/socket-folder.ts";
import { hostAccount } from "@tandem/policy";
import { KeptRules } from "./rules/kept-rules.ts";
import { ruledSession } from "./rules/ruled-session.ts";
import { pushServer, type PushDependencies } from "./push/push-server.ts";
import { createGrader } from "./outcomes/create-grader.ts";
import { createLanguageServers } from "./language-servers/language-servers.ts";
import { folderSkills } from "./skills/folder-skills.ts";
import { SkillCatalogue } from "./skills/skill-catalogue.ts";
import { SessionActors } from "./actor/session-actors.ts";
import { SessionPlaces } from "./resources/session-places.ts";
import { SessionService } from "./resources/session-service.ts";
import { SessionOptions } from "./resources/session-options.ts";
import { trustedConfig, trustIn, trustView } from "./trust/folder-trust.ts";
import { Spares } from "./spares/spares.ts";
import { createVaults } from "./vaults/create-vaults.ts";
import { openSecretBox } from "./vaults/open-secret-box.ts";
import { WebhookService } from "./webhooks/webhook-service.ts";
import { EnvironmentKeyService } from "./work/environment-keys.ts";
import { WorkQueue } from "./work/work-queue.ts";
import { createWorktrees } from "./worktrees/create-worktrees.ts";

export async function createEngine(given: Store, options: EngineSettings): Promise<Engine> {
  const settings: EngineSettings & { clock: Clock } = {
    clock: systemClock,
    ...options,
    hostServers: async (session) => [...((await options.hostServers?.(session)) ?? []), ...pushing(session)],
    openHosts: (session) => hostGrants.open(session),
  };
  const { quotas } = settings;
  const store = quotas ? limitStore(given, quotas) : given;
  await mkdir(settings.stateFolder, { recursive: true, mode: 0o700 });
  // Sessions store real paths.
  const stateFolder = await realpath(settings.stateFolder);
  const secrets = openSecretBox(stateFolder, settings);
  const roots = await AllowedRoots.open(settings.roots, settings.addedRoots);
  const deltas = new DeltaHub(settings.previews);
  const audit = new Auditor(store, settings);
  const note = (entry: AuditNote) => audit.note(entry);
  const vaults = createVaults({
    records: store.records,
    secrets,
    note,
    log: settings.log,
    clock: settings.clock,
    publicOnly: settings.publicMcpServers ?? false,
    whyNoVariables: () => whyNoVariables(settings),
  });
  settings.vaults = vaults.credentials;
  const skills = new SkillCatalogue({
    store,
    clock: settings.clock,
    ofFolders: async () => folderSkills(await Promise.all(settings.roots.map((root) => trustIn(settings, root)))),
    note,
    anthropicSkills: settings.anthropicSkills,
  });
  const agents = new AgentCatalogue({ ...settings, store: store.agents, skills });
  const rules = new KeptRules({
    records: store.records,
    clock: settings.clock,
    file: settings.rules ?? [],
    project: settings.roots[0]!,
    stateFolder,
    note,
    home: settings.hostVariables["HOME"] ?? homedir(),
    configDir: settings.hostVariables["CLAUDE_CONFIG_DIR"],
    hooks: settings.hooks ?? [],
    toolsOf: async (agent) =>
      agent === undefined
        ? agents.resolveTools([{ type: "agent_toolset_20260401" }], [])
        : (await agents.get(agent)).tools,
    sessionOf: async (id) => ruledSession(await store.sessions.get(id), id, settings),
  });
  settings.languageServers = createLanguageServers(settings, rules);
  const hostGrants = new HostGrants({
    records: store.records,
    clock: settings.clock,
    stateFolder,
    note,
    sessionOf: async (id) => ruledSession(await store.sessions.get(id), id, settings),
    resolveFolder: (folder) => roots.resolve(folder),
    environmentOf: (environment) => environments.forProcess(environment),
  });
  const killSwitch = new KillSwitch(store.records, settings.clock);
  const spending = settings.spending ?? unlimitedSpending(settings.roots[0]!);
  const limitsIn = (records: Records) =>
    new QuotaRegistry(records, spending.limits, quotas && (() => quotas().dailyUsd));
  const quotaRegistry = limitsIn(store.records);
  const definitions = new ToolDefinitions(store.records, settings.clock);
  const checkpoints = new CheckpointService(settings, stateFolder);
  const turnQuota = quotas && new TurnQuota(store.sessions, quotas, (session) => actors.wake(session));
  const memoryStores = new MemoryStoreCatalogue(store.records, settings);
  const repositories = createRepositoryMounts(store, secrets, { ...settings, stateFolder }, (path) =>
    places.resolve(path),
  );
  const commands = new SessionCommands({
    events: store.events,
    files: store.files,
    stateFolder,
    rules,
    killSwitch,
    openSandbox: (row) => openCommandSandbox(row, settings),
    trustedConfig: (folder) => trustedConfig(settings, folder),
    hostVariables: settings.hostVariables,
    userFolders: settings.userFolders ?? [],
  });
  const shared = settings.sharedRecords ?? store.records;
  const accountLimits = new AccountLimits(shared, settings.clock);
  const turns = new TurnCounter(
    shared,
    { name: settings.holder, tenant: settings.fleet?.tenant ?? DEFAULT_TENANT },
    settings.clock,
  );
  const actors = new SessionActors({
    store,
    settings,
    deltas,
    createTurnHooks: createTurnHooks({
      store,
      settings,
      killSwitch,
      rules,
      spending,
      limitsIn,
      turnQuota,
      work: () => work,
      repositories,
      memories: memoryStores,
      checkpoints,
    }),
    spares: () => spares,
    commands,
    definitions,
    rules,
    limits: new OwnLimits(accountLimits, settings),
    grade:
      settings.gradeOutcome ??
      createGrader({
        settings,
        rules,
        log: store.events,
        checkpointStores: checkpoints.stores,
        commands,
        queries: settings.graderQueries,
      }),
    halted: () => killSwitch.state(),
  });
  const { bots = [], hostVariables } = settings;
  const record: PushDependencies["record"] = async (session, event) => {
    await actors.with(session, (actor) => actor.change(() => ({ change: {}, events: [event] })));
  };
  const pushing = (session: SessionId): HostServer[] =>
    bots.length === 0 ? [] : [pushServer(session, { bots, store, stateFolder, hostVariables, record })];
  const approvals = new ApprovalService(store, {
    wake: (session) => actors.wake(session),
    account: hostAccount(settings.hostVariables),
    rules,
    log: settings.log,
    clock: settings.clock,
  });
  // Spread over the servers of a fleet: the first one denies the request for all.
  const othersMs = settings.fleet ? 1_000 + 4_000 * Math.random() : 0;
  const prepare = settings.prepare && (() => loadTurnCode(settings));
  const expiry = new ApprovalExpiry({ store, service: approvals, othersMs, settings, prepare });
  const tenant = settings.fleet?.tenant ?? DEFAULT_TENANT;
  const webhooks = new WebhookService(store, { tenant, secrets, ...settings });
  const worktrees = createWorktrees(store, { ...settings, stateFolder }, audit);
  const places = new SessionPlaces(roots, stateFolder, worktrees.maker, settings);
  const environments = new EnvironmentCatalogue(store.environments, places, {
    folder: settings.roots[0]!,
    clock: settings.clock,
    sandbox: () => sandboxState(settings.sandbox, settings.hostVariables),
  });
  const work = new WorkQueue({
    store,
    environment: (id) => environments.get(id),
    tenant: settings.tenant ?? DEFAULT_TENANT,
    settings,
    clock: settings.clock,
  });
  const { spareProcesses } = settings;
  const spares =
    spareProcesses &&
    new Spares({
      settings: { ...settings, spareProcesses },
      store,
      definitions,
      places,
      environmentOf: (id) => environments.open(id),
      isHalted: async () => (await killSwitch.state()) !== undefined,
    });
  const mounts = new SessionMounts({ store, clock: settings.clock, repositories, memoryStores });
  const sessions = new SessionService({
    store,
    agents,
    environments,
    places,
    mounts,
    vaults: vaults.ofSessions,
    tokens: repositories.tokens,
    checkpointStores: checkpoints.stores,
    actors,
    audit,
    commands,
    queries: settings.graderQueries,
    killSwitch,
    rules,
    options: new SessionOptions(settings),
    prepare: settings.prepare,
    work,
    deltas,
    ...(spares && { spares }),
    clock: settings.clock,
    forget: async (row) => {
      await forgetSession({ store, checkpointStores: checkpoints.stores, settings }, row);
      await rules.left(row.id);
      await hostGrants.forget(row.id);
      await forgetOutputs(store.records, row.id);
      await repositories.tokens.forget(row.id);
      await forgetMemoryMounts(store.records, row.id);
    },
  });
  const history = new SessionHistory({
    store,
    checkpointStores: checkpoints.stores,
    environments,
    places,
    mounts,
    actors,
    killSwitch,
    sessions,
    announce: (row) => sessions.announce(row),
    note,
    exportCassette: (row) => {
      const { clock, permissionMode } = settings;
      return exportCassette({ store, checkpointStores: checkpoints.stores, rules, permissionMode, clock }, row);
    },
    clock: settings.clock,
  });
  const { deployments, triggers, scheduler } = createDeployments({
    store,
    agents,
    environments,
    places,
    sessions,
    secrets,
    killSwitch,
    note,
    settings,
  });
  const messages = new MessagesService({
    settings,
    store,
    quotaRegistry,
    spending,
    killSwitch,
    clock: settings.clock,
    note,
    log: settings.log,
  });
  const halt = async (state: Halt): Promise<number> => {
    const [interrupted] = await Promise.all([actors.halt(state), spares?.endAll()]);
    return interrupted;
  };
  checkpoints.onFull = (session) => history.compactNext(session, "tandem");
  return {
    agents: servedAgents(agents, (agent) => deployments.archiveOf(agent)),
    environments,
    work,
    environmentKeys: new EnvironmentKeyService({
      tokens: store.tokens,
      tenant: settings.tenant ?? DEFAULT_TENANT,
      clock: settings.clock,
      check: (id) => work.checkEnvironment(id),
      note,
    }),
    sessions,
    deployments,
    triggers,
    history,
    worktrees: worktrees.service((session, by) => sessions.archive(session, by)),
    approvals,
    notifications: webhooks.notifications,
    webhooks,
    rules,
    files: new FileCatalogue(store.files, settings.clock),
    skills,
    memoryStores,
    vaults: vaults.vaults,
    vaultLogins: vaults.logins,
    trust: { of: async (folder) => trustView(await trustIn(settings, await roots.resolve(folder))) },
    sandboxHosts: hostGrants,
    mcpServers: definitions,
    ownerUrls: new OwnerUrls(store),
    fleet: createFleet({
      store,
      records: shared,
      limits: accountLimits,
      queue: settings.fleet?.queue,
      jobQueue: settings.jobQueue,
      note,
      here: settings.ownOnly ? undefined : settings,
      clock: settings.clock,
    }),
    runs: actors,
    budgets: new Budgets({
      store,
      quotaRegistry,
      settings: spending,
      clock: settings.clock,
      onRaised: () => void actors.lookAround(),
      note,
    }),
    killSwitch: createEmergency(store, killSwitch, { halt, lookAround: () => actors.lookAround() }, note),
    audit,
    messages,
    models: settings.models,
    async start() {
      // An orphaned Claude Code process must end before its session is taken over.
      await settings.sweep();
      await sweepSocketFolders();
      await spares?.sweep();
      void prunePackages(stateFolder, settings.clock.now()).catch(() => undefined);
      audit.start();
      turns.start(store.events);
      await actors.start();
      await expiry.start(settings.ownOnly ?? false);
      checkpoints.start();
      await skills.sweep();
      await vaults.start();
      work.start();
      await webhooks.start();
      if (!settings.ownOnly && settings.fleet?.role !== "server") await scheduler.start();
    },
    async stop(deadlineMs) {
      await scheduler.stop();
      expiry.stop();
      checkpoints.stop();
      work.stopPruning();
      await Promise.all([messages.stop(deadlineMs), actors.stop(deadlineMs), spares?.stop()]);
      await Promise.all([webhooks.stop(), settings.languageServers?.stop()]);
      await turns.stop();
      await audit.stop();
    },
  };
}
