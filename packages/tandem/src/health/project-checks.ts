import { TandemError } from "@tandem/protocol";
import { stat } from "node:fs/promises";
import { secretFile } from "../config/resolve-secret.ts";
import { describeUntrusted, untrustedSettings } from "../config/trust.ts";
import { credentialOf, describeProject, payerOf, PAYERS } from "../project/describe-project.ts";
import { type Check, failure, ok, warning } from "./check.ts";

const config: Check = {
  name: "config",
  async run({ project, projectError }) {
    if (project) return ok(`${project.displayPath} is valid.`);
    if (projectError instanceof TandemError) return failure(projectError.message, projectError.fix);
    throw projectError;
  },
};

const trust: Check = {
  name: "trust",
  async run({ host: { env }, project }) {
    if (!project) return undefined;
    const untrusted = await untrustedSettings(env, project.folder, project.settings);
    if (untrusted.length === 0) return undefined;
    const { set, gone } = describeUntrusted(untrusted);
    const sentences = [
      ...(set ? [`Not effective until you trust this folder: ${set}.`] : []),
      ...(gone ? [`Trusted before, now missing: ${gone}.`] : []),
    ];
    return failure(sentences.join(" "), "tandem trust");
  },
};

const backend: Check = {
  name: "backend",
  async run({ project }) {
    if (!project) return undefined;
    const { llm } = project.config;
    if (llm.provider.backend === "none") return failure("No model backend is configured.", "tandem setup");
    return ok(`${llm.provider.backend}; billed to ${PAYERS[payerOf(llm)]}.`);
  },
};

const ignored: Check = {
  name: "ignored",
  async run({ project }) {
    if (!project) return undefined;
    const { ignored } = await describeProject(project);
    const [first] = ignored;
    if (!first) return undefined;
    const keys = ignored.map(({ key }) => key);
    const reasons = [...new Set(ignored.map(({ why }) => why))].join(" ");
    return warning(`No effect on this backend: ${keys.join(", ")}. ${reasons}`, `tandem config unset ${first.key}`);
  },
};

const secretFilePermissions: Check = {
  name: "secret file",
  async run({ host: { env }, project, trusted }) {
    const reference = project && trusted ? credentialOf(project.config.llm) : undefined;
    if (!project || !reference?.startsWith("file:") || process.platform === "win32") return undefined;
    const file = secretFile(reference.slice("file:".length), { env, folder: project.folder });
    const info = await stat(file).catch(() => undefined);
    // The credential check reports a missing key.
    if (!info) return undefined;
    if ((info.mode & 0o077) !== 0) return warning(`${file} is readable by other users.`, `chmod 600 ${file}`);
    return ok(`${file} is private.`);
  },
};

/** Variables that select the billed account or the endpoint in other programs. */
const PAYMENT =
  /^(ANTHROPIC_|CLAUDE_CODE_(USE|OAUTH)_|AI_GATEWAY_|GOOGLE_(VERTEX_|APPLICATION_CREDENTIALS$|CLOUD_PROJECT$)|CLOUD_ML_REGION$|AWS_BEARER_TOKEN_BEDROCK$)/;

const variables: Check = {
  name: "variables",
  async run({ host: { env }, project }) {
    const llm = project?.config.llm;
    const used = new Set([llm && credentialOf(llm)?.replace(/^env:/, "")]);
    if (llm?.provider.backend === "vertex" && !llm.provider.vertex.credentials)
      used.add("GOOGLE_APPLICATION_CREDENTIALS");
    const stray = Object.keys(env).filter((name) => PAYMENT.test(name) && env[name] && !used.has(name));
    if (stray.length === 0) return ok("No unused variables of model providers are set.");
    const payer = llm ? ` Billed to ${PAYERS[payerOf(llm)]}.` : "";
    return warning(
      `Set but unused: ${stray.sort().join(", ")}.${payer}`,
      "None, if this is intended. `tandem setup` changes the billing.",
    );
  },
};

/** Read for one more version. */
const formerWebhooks: Check = {
  name: "notify.webhooks",
  async run({ project }) {
    const count = project?.config.notify.webhooks.length ?? 0;
    if (count === 0) return undefined;
    return warning(
      "notify.webhooks is read for this version only: webhooks has Anthropic's events and signatures.",
      "Move each URL to webhooks in tandem.yaml, or: tandem webhooks add URL",
    );
  },
};

export const projectChecks: readonly Check[] = [
  config,
  trust,
  backend,
  secretFilePermissions,
  ignored,
  variables,
  formerWebhooks,
];
