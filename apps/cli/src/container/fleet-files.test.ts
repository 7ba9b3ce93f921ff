import { configSchema } from "@tandem/protocol";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { createProgram } from "../program.ts";

// Checks the fleet's deployment files without Docker and without a cluster: their references exist and their commands are
// valid.

const root = join(import.meta.dirname, "..", "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const words = z.array(z.string());

/** Parses the options of `tandem up`. Throws on an unknown option. */
async function upOptions(args: readonly string[]): Promise<Record<string, unknown>> {
  const program = await createProgram("0", async () => {});
  const up = program.commands.find((command) => command.name() === "up")!;
  let given: Record<string, unknown> | undefined;
  up.exitOverride().action((options: Record<string, unknown>) => void (given = options));
  await program.exitOverride().parseAsync([...args], { from: "user" });
  if (!given) throw new Error(`${args.join(" ")} does not start \`tandem up\`.`);
  return given;
}

const service = z.looseObject({
  hostname: z.string(),
  command: words,
  environment: z.record(z.string(), z.string()),
  secrets: words,
  volumes: words,
  ports: words.optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })),
  stop_grace_period: z.string(),
});
const compose = z
  .looseObject({
    services: z.intersection(
      z.object({ postgres: z.object({ extends: z.object({ file: z.string(), service: z.string() }) }) }),
      z.record(z.string(), z.unknown()),
    ),
    volumes: z.record(z.string(), z.null()),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
  })
  .parse(parse(read("compose.fleet.yaml"), { merge: true }));
const { postgres, ...others } = compose.services;
const services = Object.entries(others).map(([name, each]) => [name, service.parse(each)] as const);

test("compose: two servers and two workers, each with its own home and name", async () => {
  const roles = await Promise.all(services.map(async ([, { command }]) => (await upOptions(command))["as"]));
  expect(roles).toEqual(["server", "server", "worker", "worker"]);
  const homes = services.map(([, { volumes }]) => volumes.find((volume) => volume.endsWith(":/data"))!.split(":")[0]!);
  expect(new Set(homes).size).toBe(4);
  for (const home of homes) expect(compose.volumes).toHaveProperty(home);
  expect(services.map(([, { hostname }]) => hostname)).toEqual(services.map(([name]) => name));
});

test("compose: workers advertise their names and share one labelled volume", async () => {
  for (const [name, { command, volumes }] of services.filter(([each]) => each.startsWith("worker"))) {
    expect(await upOptions(command)).toMatchObject({ label: ["volume=workspace"], advertise: `http://${name}:4760` });
    expect(volumes.filter((volume) => volume.endsWith(":/workspace"))).toHaveLength(1);
  }
});

test("compose: publishes only servers, to localhost only; all wait for the database", () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
  expect(published).toEqual([
    ["server-1", "127.0.0.1:4760:4760"],
    ["server-2", "127.0.0.1:4761:4760"],
  ]);
  for (const [, each] of services) {
    expect(each.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    for (const secret of each.secrets) expect(compose.secrets).toHaveProperty(secret);
  }
  const one = z
    .object({ services: z.record(z.string(), z.looseObject({ secrets: words })) })
    .parse(parse(read(postgres.extends.file)));
  for (const secret of one.services[postgres.extends.service]!.secrets) expect(compose.secrets).toHaveProperty(secret);
});

const object = z.record(z.string(), z.unknown());
const labels = z.record(z.string(), z.string());
const probe = z.object({
  httpGet: z.object({
    path: z.string(),
    port: z.string(),
    httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
  }),
  periodSeconds: z.number(),
  failureThreshold: z.number(),
  timeoutSeconds: z.number().optional(),
});
const container = z.object({
  name: z.string(),
  image: z.string(),
  args: words,
  env: z.array(z.looseObject({ name: z.string() })),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: object.optional(),
  resources: z.object({ requests: labels, limits: labels }),
  securityContext: object,
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() })),
});
const pods = z.looseObject({
  selector: z.object({ matchLabels: labels }),
  serviceName: z.string().optional(),
  template: z.object({
    metadata: z.object({ labels }),
    spec: z.looseObject({
      automountServiceAccountToken: z.literal(false),
      terminationGracePeriodSeconds: z.number(),
      securityContext: object,
      containers: z.array(container).length(1),
      volumes: z.array(z.looseObject({ name: z.string() })),
    }),
  }),
  volumeClaimTemplates: z.array(z.looseObject({ metadata: z.object({ name: z.string() }) })).default([]),
});
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.unknown().optional(),
});

const folder = "deploy/kubernetes";
const kustomization = z
  .object({ resources: words, configMapGenerator: z.array(z.object({ name: z.string(), files: words })) })
  .parse(parse(read(`${folder}/kustomization.yaml`)));
const manifests = kustomization.resources.flatMap((file) =>
  parseAllDocuments(read(`${folder}/${file}`)).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return manifest.parse(document.toJS());
  }),
);
const specOf = (kind: string, name: string): unknown =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name)?.spec;
const servers = pods.parse(specOf("Deployment", "tandem-server"));
const workers = pods.parse(specOf("StatefulSet", "tandem-worker"));

test.each([
  ["servers", servers],
  ["workers", workers],
])("Kubernetes: %s run without root, on a file system that they cannot change, within limits", (_, { template }) => {
  const { spec } = template;
  const [only] = spec.containers;
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 10_001,
    seccompProfile: { type: "RuntimeDefault" },
  });
  expect(only!.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(only!.resources.limits).toHaveProperty("memory");
  for (const path of ["/data", "/home/tandem", "/tmp"]) {
    expect(only!.volumeMounts).toContainEqual(expect.objectContaining({ mountPath: path }));
  }
});

test.each([
  ["servers", servers],
  ["workers", workers],
])("Kubernetes: %s have every volume that they mount, and labels that find them", (_, each) => {
  const { spec, metadata } = each.template;
  const there = [
    ...spec.volumes.map(({ name }) => name),
    ...each.volumeClaimTemplates.map((claim) => claim.metadata.name),
  ];
  expect(there.toSorted()).toEqual(spec.containers[0]!.volumeMounts.map(({ name }) => name).toSorted());
  expect(metadata.labels).toEqual(each.selector.matchLabels);
  const claims = z.array(z.looseObject({ persistentVolumeClaim: z.object({ claimName: z.string() }).optional() }));
  for (const { persistentVolumeClaim: claim } of claims.parse(spec.volumes)) {
    if (claim) expect(specOf("PersistentVolumeClaim", claim.claimName)).toBeDefined();
  }
});

test("Kubernetes: the command lines are valid", async () => {
  expect(await upOptions(servers.template.spec.containers[0]!.args)).toMatchObject({ as: "server" });
  const args = workers.template.spec.containers[0]!.args.map((arg) => arg.replaceAll("$(POD_NAME)", "tandem-worker-0"));
  expect(await upOptions(args)).toMatchObject({
    as: "worker",
    machine: "tandem-worker-0",
    label: ["volume=workspace"],
    maxSessions: "16",
    advertise: `http://tandem-worker-0.${workers.serviceName}:4760`,
  });
  expect(workers.template.spec.containers[0]!.env.map(({ name }) => name)).toContain("POD_NAME");
});

test("Kubernetes: services, budgets and the policy select their pods", () => {
  const found = (selector: Record<string, string>, each: typeof servers): boolean =>
    Object.entries(selector).every(([name, value]) => each.template.metadata.labels[name] === value);
  const selectorOf = (kind: string, name: string): Record<string, string> => {
    const spec = z
      .looseObject({ selector: z.unknown().optional(), podSelector: z.unknown().optional() })
      .parse(specOf(kind, name));
    const direct = labels.safeParse(spec.selector);
    return direct.success
      ? direct.data
      : z.object({ matchLabels: labels }).parse(spec.selector ?? spec.podSelector).matchLabels;
  };
  const find = (kind: string, name: string): string[] =>
    [
      found(selectorOf(kind, name), servers) ? "servers" : "",
      found(selectorOf(kind, name), workers) ? "workers" : "",
    ].filter(Boolean);
  expect(find("Service", "tandem")).toEqual(["servers"]);
  expect(find("Service", workers.serviceName!)).toEqual(["workers"]);
  expect(find("PodDisruptionBudget", "tandem-server")).toEqual(["servers"]);
  expect(find("PodDisruptionBudget", "tandem-worker")).toEqual(["workers"]);
  expect(find("NetworkPolicy", "tandem-worker")).toEqual(["workers"]);
});

test("Kubernetes: the settings are valid, read the mounted secrets, and leave time to stop", () => {
  const [generated] = kustomization.configMapGenerator;
  expect(generated).toEqual({ name: "tandem", files: ["tandem.yaml"] });
  const text = read(`${folder}/tandem.yaml`);
  const config = configSchema.parse(parse(text));
  for (const { template } of [servers, workers]) {
    const [only] = template.spec.containers;
    const mounted = only!.volumeMounts.find(({ name }) => name === "secrets")!.mountPath;
    for (const [, path] of text.matchAll(/"file:(.+)\/\w+"/g)) expect(path).toBe(mounted);
    expect(only!.ports[0]!.containerPort).toBe(config.server.port);
    expect(only!.env).toContainEqual({ name: "TANDEM_PROJECT", value: "/etc/tandem/fleet" });
    expect(template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(config.server.stopWithin + 7_000);
  }
});
