import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "@tandem/protocol";
import { createProgram } from "../program.ts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = join(import.meta.dirname, "..", "..", "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The instructions of the last stage, with continuation lines joined. */
const dockerfile = read("Dockerfile")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => /^[A-Z]+ /.test(line));
const lastStage = dockerfile.slice(dockerfile.findLastIndex((line) => line.startsWith("FROM ")));
const instruction = (name: string): string[] =>
  lastStage.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
const words = z.array(z.string());

const service = z.looseObject({
  environment: z.record(z.string(), z.string()),
  secrets: words,
  volumes: words,
  healthcheck: z.looseObject({ test: words }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
});
const compose = z
  .object({
    name: z.string(),
    services: z.object({ tandem: service.extend({ ports: words }), postgres: service }),
    volumes: z.record(z.string(), z.null()),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
  })
  .parse(parse(read("compose.yaml")));

test("the image does not run as root, keeps its data in a volume and has a health check", () => {
  expect(instruction("USER")).toEqual(["tandem"]);
  expect(words.parse(JSON.parse(instruction("VOLUME")[0]!))).toEqual(["/data", "/workspace"]);
  expect(instruction("ENV")[0]).toContain("TANDEM_HOME=/data");
  expect(instruction("HEALTHCHECK")[0]).toMatch(/CMD \["node", "\/app\/container\/health\.mjs"\]$/);
  expect(instruction("COPY").join("\n")).toContain("container/health.mjs");
});

test("copied files exist, and none is a secret", () => {
  const copied = dockerfile
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from"))
    .flatMap((line) => line.split(" ").slice(1, -1));
  for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
  expect(dockerfile.filter((line) => /^(ARG|ENV) .*(KEY|TOKEN|PASSWORD|SECRET)/.test(line))).toEqual([]);
  // .dockerignore excludes everything except the listed paths.
  const [first, ...ignored] = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  expect(first).toBe("*");
  for (const pattern of ["**/.env*", "**/secrets", "**/.claude", "**/.tandem"]) expect(ignored).toContain(pattern);
});

test("installs every library from the lockfile, without scripts", () => {
  const installs = dockerfile.filter((line) => line.includes("npm "));
  expect(installs.length).toBe(2);
  for (const line of installs) expect(line).toMatch(/npm ci .*--ignore-scripts/);
});

test.each(["container/tandem.yaml", "container/postgres/tandem.yaml"])(
  "%s is a config that lets the port be published",
  (file) => {
    const config = configSchema.parse(parse(read(file)));
    expect(config.server).toMatchObject({ host: "0.0.0.0", port: 4760, trustedProxy: true });
    expect(config.sessions.roots).toEqual(["/workspace"]);
    expect(config.llm.claudeCode.auth).toBe("api_key");
    expect(instruction("EXPOSE")).toEqual([String(config.server.port)]);
    expect(instruction("COPY")).toContainEqual(expect.stringContaining(file));
  },
);

test("the image starts an existing command", async () => {
  const [command] = words.parse(JSON.parse(instruction("CMD")[0]!));
  const names = (await createProgram("0", async () => {})).commands.map((each) => each.name());
  expect(names).toContain(command);
  for (const [, name] of read("container/entrypoint.sh").matchAll(/^tandem (\w+)/gm)) expect(names).toContain(name);
});

test("compose publishes to localhost only, waits for the database, and passes secrets as files", () => {
  const { tandem, postgres } = compose.services;
  expect(tandem.ports).toEqual(["127.0.0.1:4760:4760"]);
  expect(tandem.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  expect(postgres.healthcheck?.test.slice(0, 2)).toEqual(["CMD", "pg_isready"]);
  const given = [...tandem.secrets, ...postgres.secrets];
  expect(given.toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
  expect(Object.values({ ...tandem.environment, ...postgres.environment }).join(" ")).not.toMatch(
    /sk-ant|password=|:\/\/.*@/,
  );
  for (const each of [tandem, postgres])
    for (const volume of each.volumes.filter((name) => /^\w+:/.test(name)))
      expect(compose.volumes).toHaveProperty(volume.split(":")[0]!);
  // The settings selected by compose read the secrets that it mounts.
  const settings = read(tandem.environment["TANDEM_PROJECT"]!.replace("/etc/tandem", "container") + "/tandem.yaml");
  for (const [, secret] of settings.matchAll(/\/run\/secrets\/(\w+)/g)) expect(tandem.secrets).toContain(secret);
  expect(postgres.environment["POSTGRES_PASSWORD_FILE"]).toBe("/run/secrets/postgres_password");
});
