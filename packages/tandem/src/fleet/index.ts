export { memberAddress, openMembership, type FleetOptions, type Joined, type Membership } from "./open-membership.ts";
export type { FleetRole } from "./login-rule.ts";
export { openLocalFleet } from "./open-local-fleet.ts";
