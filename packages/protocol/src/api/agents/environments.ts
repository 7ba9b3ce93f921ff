import { z } from "zod";
import { metadata, metadataUpdate } from "./agents.ts";
import { deletedOf, includeArchived, pageOf, pageQuery } from "../page.ts";

export { LOCAL_ENVIRONMENT, ENVIRONMENT_METADATA } from "../../words.ts";

const network = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("unrestricted") }),
  z.strictObject({
    type: z.literal("limited"),
    allowed_hosts: z.array(z.string()).max(100).nullish(),
    allow_mcp_servers: z.boolean().nullish(),
    allow_package_managers: z.boolean().nullish(),
  }),
]);

const packageNames = z.array(z.string().min(1).max(214)).max(100).nullish();
const packagesParams = z.strictObject({
  type: z.literal("packages").optional(),
  apt: packageNames,
  cargo: packageNames,
  gem: packageNames,
  go: packageNames,
  npm: packageNames,
  pip: packageNames,
});

const configParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("cloud"), networking: network.nullish(), packages: packagesParams.nullish() }),
  z.strictObject({ type: z.literal("self_hosted") }),
]);
export type EnvironmentConfigParams = z.infer<typeof configParams>;

const shared = {
  config: configParams.nullish(),
  description: z.string().max(2_048).nullish(),
  scope: z.enum(["organization", "account"]).nullish(),
};

const environmentCreateParams = z
  .strictObject({ name: z.string().min(1).max(256), ...shared, metadata: metadata.optional() })
  .meta({ id: "EnvironmentCreate" });
export type EnvironmentCreateParams = z.infer<typeof environmentCreateParams>;

const environmentUpdateParams = z
  .strictObject({ name: z.string().min(1).max(256).nullish(), ...shared, metadata: metadataUpdate })
  .meta({ id: "EnvironmentUpdate" });
export type EnvironmentUpdateParams = z.infer<typeof environmentUpdateParams>;

const packages = z.object({
  type: z.literal("packages"),
  apt: z.array(z.string()),
  cargo: z.array(z.string()),
  gem: z.array(z.string()),
  go: z.array(z.string()),
  npm: z.array(z.string()),
  pip: z.array(z.string()),
});

const networking = z.discriminatedUnion("type", [
  z.object({ type: z.literal("unrestricted") }),
  z.object({
    type: z.literal("limited"),
    allowed_hosts: z.array(z.string()),
    allow_mcp_servers: z.boolean(),
    allow_package_managers: z.boolean(),
  }),
]);

export const environment = z
  .object({
    type: z.literal("environment"),
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    config: z.discriminatedUnion("type", [
      z.object({ type: z.literal("cloud"), networking, packages }),
      z.object({ type: z.literal("self_hosted") }),
    ]),
    metadata: z.record(z.string(), z.string()),
    scope: z.literal("account"),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
    tandem: z
      .object({ networking: z.enum(["default", "explicit"]) })
      .optional()
      .describe("Whether a request named the networking. By default, the sandbox allows the hosts of `sandbox.hosts`."),
  })
  .meta({ id: "Environment" });
export type Environment = z.infer<typeof environment>;

export const environmentsApi = {
  "environments.create": { body: environmentCreateParams, response: environment },
  "environments.list": { query: z.strictObject({ ...pageQuery, ...includeArchived }), response: pageOf(environment) },
  "environments.retrieve": { response: environment },
  "environments.update": { body: environmentUpdateParams, response: environment },
  "environments.archive": { response: environment },
  "environments.delete": { response: deletedOf("environment_deleted") },
};
