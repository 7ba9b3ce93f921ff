import type { SessionRuns } from "./fleet/session-runs.ts";
import type { Fleet } from "./fleet/fleet.ts";
import type { Public } from "./host/public.ts";
import type { Approvals } from "./approvals/approval-service.ts";
import type { Audit } from "./audit/auditor.ts";
import type { Budgets } from "./budgets/budgets.ts";
import type { Emergency } from "./budgets/emergency.ts";
import type { History } from "./checkpoints/session-history.ts";
import type { OwnerUrls } from "./mcp/owner-urls.ts";
import type { MemoryStores } from "./memory/memory-stores.ts";
import type { McpServers } from "./mcp/tool-definitions.ts";
import type { Messages } from "./messages/messages-service.ts";
import type { SandboxHosts } from "./sandbox/host-grants.ts";
import type { Model } from "./process/turn-options.ts";
import type { Agents } from "./resources/agents.ts";
import type { Environments } from "./resources/environments.ts";
import type { Deployments } from "./deployments/deployment-service.ts";
import type { FileCatalogue } from "./resources/files.ts";
import type { Sessions } from "./resources/sessions.ts";
import type { Rules } from "./rules/kept-rules.ts";
import type { Skills } from "./skills/skill-catalogue.ts";
import type { TriggerService } from "./triggers/trigger-service.ts";
import type { Trust } from "./trust/folder-trust.ts";
import type { OAuthLogins } from "./vaults/use/oauth-logins.ts";
import type { Vaults } from "./vaults/vault-service.ts";
import type { Webhooks, WebhookService } from "./webhooks/webhook-service.ts";
import type { EnvironmentKeyService } from "./work/environment-keys.ts";
import type { WorkQueues } from "./work/work-queue.ts";
import type { WorktreeService } from "./worktrees/worktree-service.ts";

/**
 * The engine: everything that clients can do with agents, environments and sessions, over HTTP, ACP, stdio or the command
 * line. It rejects invalid requests with a `RequestError`. Every acknowledged change is durable.
 *
 * To understand how a message becomes a turn, read these five files in this order:
 * 1. `create-engine.ts` wires the features together.
 * 2. `resources/session-service.ts` accepts client input and puts it into the session's input queue.
 * 3. `actor/session-actor.ts` is the single writer of a session: it takes input from the queue while it holds the lease.
 * 4. `turn/turn-runner.ts` drives a turn through the states and transitions that `turn-state.ts` beside it lists.
 * 5. `conversation/conversation-holder.ts` starts and resumes the Claude Code process that answers.
 *
 * Folders from the bottom up: host, sandbox, log, hooks, rules, approvals, process, conversation, turn, actor, resources. The
 * other folders are features beside them. Folders do not import each other in a circle: `scripts/topology.test.ts`.
 */
export interface Engine {
  readonly agents: Agents;
  readonly environments: Environments;
  /** The work queues of self-hosted environments. */
  readonly work: WorkQueues;
  readonly environmentKeys: Public<EnvironmentKeyService>;
  readonly sessions: Sessions;
  readonly deployments: Deployments;
  readonly triggers: Public<TriggerService>;
  readonly history: History;
  readonly approvals: Approvals;
  readonly notifications: WebhookService["notifications"];
  readonly webhooks: Webhooks;
  readonly rules: Rules;
  readonly files: Public<FileCatalogue>;
  readonly skills: Skills;
  readonly memoryStores: MemoryStores;
  readonly vaults: Vaults;
  readonly vaultLogins: Public<OAuthLogins>;
  readonly budgets: Public<Budgets>;
  readonly killSwitch: Emergency;
  readonly audit: Audit;
  readonly worktrees: Public<WorktreeService>;
  readonly trust: Trust;
  readonly sandboxHosts: SandboxHosts;
  readonly mcpServers: McpServers;
  /** URLs of MCP servers that the server's owner named in a session's request. */
  readonly ownerUrls: Pick<OwnerUrls, "add">;
  readonly fleet: Fleet;
  /** For a worker of a fleet. */
  readonly runs: SessionRuns;
  /** Anthropic's Messages API on the configured backend. */
  readonly messages: Messages;
  /** The models that an agent may name. */
  models(): Promise<Model[]>;
  /** Recovers sessions of former processes: closes open calls, resumes waiting work. Resolves when all states are correct. */
  start(): Promise<void>;
  /** Accepts no new work, waits for running turns until the deadline, then interrupts them. Resolves when no process is left. */
  stop(deadlineMs: number): Promise<void>;
}
