export { closeTimeOf, openTandem, type DemoOptions, type Tandem, type TandemOptions } from "./open-tandem.ts";
export type { Host } from "./host.ts";
export type { Project } from "./config/load-project.ts";
