export { closeTimeOf, openTandem, type DemoOptions } from "./open-tandem.ts";
export type { Host } from "./config/host.ts";
export type { Project } from "./config/load-project.ts";
