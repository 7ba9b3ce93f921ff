export { composeRealm } from "./compose-realm.ts";
export { findTenant } from "./find-tenant.ts";
export { TenantRealms } from "./realms.ts";
export { OPERATOR, stopEveryone } from "./stop-everyone.ts";
export { createTenantOffice } from "./tenant-office.ts";
export { openTenantProject } from "./tenant-project.ts";
