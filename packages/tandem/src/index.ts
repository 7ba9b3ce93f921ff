export type { Host } from "./host.ts";
export type { Project } from "./config/load-project.ts";
