export { openTenantRuntime } from "./open-tenant-runtime.ts";
export { findTenant } from "./find-tenant.ts";
export { LocalTenantRuntimes } from "./local-tenant-runtimes.ts";
export { OPERATOR, stopEveryone } from "./stop-everyone.ts";
export { createTenantService } from "./create-tenant-service.ts";
export { openTenantProject } from "./tenant-project.ts";
