import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const root = join(import.meta.dirname, "..", "..", "..", "..", "..");
const words = z.array(z.string());
const service = z.looseObject({
  hostname: z.string(),
  command: words,
  environment: z.record(z.string(), z.string()),
  cap_drop: words,
  security_opt: words,
});

/** A service of compose.fleet.yaml: its options for `podman run`, without volumes and network, and its command. */
export function fleetService(name: string): { options: string[]; command: string[] } {
  const { services } = z
    .looseObject({ services: z.record(z.string(), z.unknown()) })
    .parse(parse(readFileSync(join(root, "compose.fleet.yaml"), "utf8"), { merge: true }));
  const { hostname, command, environment, cap_drop: dropped, security_opt: security } = service.parse(services[name]);
  const options = [
    "--hostname",
    hostname,
    ...dropped.flatMap((capability) => ["--cap-drop", capability]),
    ...security.flatMap((option) => ["--security-opt", option]),
    ...Object.entries(environment).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
  ];
  return { options, command };
}

/** The settings of the compose files, with another address of the model. */
export function settingsWithModel(baseUrl: string): string {
  const settings = readFileSync(join(root, "container/postgres/tandem.yaml"), "utf8");
  return settings.replace("auth: api_key\n", `auth: api_key\n    baseUrl: "${baseUrl}"\n`);
}
