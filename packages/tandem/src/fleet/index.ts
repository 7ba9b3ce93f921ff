export { innerDoor, openMembership, type FleetOptions, type Joined, type Membership } from "./join-fleet.ts";
export type { FleetRole } from "./login-rule.ts";
export { openLocalFleet } from "./open-local-fleet.ts";
