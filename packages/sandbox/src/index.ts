export { canPass, canReach } from "./can-reach.ts";
export { explainFailure } from "./explain-failure.ts";
export { inheritedDescriptors } from "./inherited-descriptors.ts";
export { inSandbox, type SandboxedCommand, type SandboxStart } from "./in-sandbox.ts";
export { openLimitGroup, type LimitGroup } from "./limit-group.ts";
export { letPass, letUserReach } from "./let-user-reach.ts";
export { limitsInForce, type LimitInForce } from "./limits.ts";
export { checkMounted } from "./mount-identity.ts";
export { knownWall, probeWall } from "./probe-wall.ts";
export { SandboxError, wallMissing } from "./sandbox-error.ts";
export type { ApiUpstream, ApiUsage } from "./proxy/api-forwarder.ts";
export type { ApiGateway, ApiGatewayOptions } from "./proxy/api-gateway.ts";
export { caVariables } from "./proxy/ca-trust.ts";
export type { ResolveName } from "./proxy/check-target.ts";
export type { Egress, EgressOptions } from "./proxy/egress.ts";
export type { EgressRefusal, RefusalReason } from "./proxy/egress-refusal.ts";
export { allHosts, hostRules, type HostFilter } from "./proxy/host-rules.ts";
export type { InjectedCredential } from "./proxy/injected-credential.ts";
export type { SocketOwner } from "./proxy/listen-on-socket.ts";
export { openApiGateway, openEgress, openPortForward, openPortListener } from "./proxy/open-proxies.ts";
export { SecretScrubber } from "./proxy/secret-filter.ts";
export { isPrivateAddress } from "./proxy/private-address.ts";
export type {
  HostMount,
  LinkMount,
  Mount,
  OsUser,
  SandboxLimits,
  SandboxPlan,
  TextMount,
  Wall,
  WallOff,
  WallOn,
  WallProblem,
} from "./sandbox-plan.ts";
export { gitIdentity, sessionMounts, type SessionPlace } from "./session-mounts.ts";
export { awaitStart, MAY_START } from "./start-permission.ts";
