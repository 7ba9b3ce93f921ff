import { z } from "zod";
import { secretReference } from "./secret-reference.ts";
import { needsTrust } from "./trust-mark.ts";

const SANDBOX_MODES = ["auto", "require", "off"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

const HOST = String.raw`(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?`;
const HOST_PATTERN = new RegExp(`^(?:\\*\\.)?${HOST}(?::\\d{1,5})?$`, "i");
const IP_LITERAL = /^(?:\d{1,3}(?:\.\d{1,3}){3}|0x[0-9a-f]+|\d+)(?::\d+)?$|^\[|:.*:/i;

/** Explains why a text is no host pattern. Undefined if it is one: `example.com`, `*.example.com`, `example.com:8443`. */
export function hostPatternProblem(text: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return "expected a host name without a scheme, such as example.com";
  if (text.includes("/")) return "expected a host name without a path, such as example.com";
  if (IP_LITERAL.test(text)) return "expected a host name: the sandbox never connects to IP addresses";
  if (text === "*" || text === "*.*") {
    return "`*` would allow every host; use an environment with unrestricted networking instead";
  }
  if (!HOST_PATTERN.test(text)) return "expected a host name such as example.com, *.example.com or example.com:8443";
  const port = text.split(":")[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return "expected a port from 1 to 65535";
  if (/(?:^|\.)localhost(?::|$)/i.test(text)) return "loopback is unreachable; use sandbox.services for a local port";
  if (!/[^*.]\./.test(text)) return "expected a full domain: the sandbox reaches public hosts only";
  return undefined;
}

/** Reports the problem that `explain` finds as the message of the issue. */
const explained = (explain: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = explain(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

export const hostPattern = explained(hostPatternProblem);

/** The home and TANDEM_HOME of this machine are checked when the engine starts: the schema does not know them. */
function mountPathProblem(path: string): string | undefined {
  if (path === "/" || /^\/+$/.test(path)) return "the whole file system cannot be mounted; name a folder or file";
  if (/^~\/?$/.test(path)) return "the whole home cannot be mounted; name a folder or file in it";
  if (!path.startsWith("/") && !path.startsWith("~/")) return "expected an absolute path or one that begins with ~/";
  if (path.split("/").includes("..")) return "expected a path without ..";
  return path.includes("\0") ? "expected a path" : undefined;
}

const PORT_EXPECTED = "expected a port from 1 to 65535";
const port = z
  .int({ error: PORT_EXPECTED })
  .refine((number) => number >= 1 && number <= 65_535, { error: PORT_EXPECTED });

export const sandboxMount = z.strictObject({
  path: explained(mountPathProblem).describe("Absolute path, or one that begins with `~/`. Same path inside."),
  write: z.boolean().default(false).describe("Whether the session may write there."),
});

const service = z.strictObject({
  port: port.describe("Port of 127.0.0.1 inside the sandbox."),
  to: port.optional().describe("Port of 127.0.0.1 on this machine. Default: the same."),
});

const credential = z
  .strictObject({
    host: explained((text) =>
      text.includes("*") ? "expected one host, without *" : hostPatternProblem(text),
    ).describe("Host that receives the credential."),
    header: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, "expected a header name such as Authorization")
      .optional()
      .describe("Header that the proxy sets to the value."),
    variable: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "expected a variable name such as NPM_TOKEN")
      .optional()
      .describe("Variable that contains a placeholder inside. The proxy replaces the placeholder in headers."),
    value: secretReference.describe("Secret reference to the value."),
  })
  .refine(
    ({ header, variable }) => (header === undefined) !== (variable === undefined),
    "expected `header` or `variable`",
  );

const limits = z.strictObject({
  memoryMb: z
    .int()
    .min(256)
    .optional()
    .describe("Memory of a session, as far as the machine can enforce it. Default: none."),
  processes: z
    .int()
    .min(16)
    .optional()
    .describe("Number of processes and threads of a session. Default: chosen by the sandbox."),
  files: z.int().min(64).optional().describe("Number of open files of each process. Default: none."),
  fileMb: z.int().min(1).optional().describe("Size of each written file. Default: none."),
});

export const sandboxSection = z
  .strictObject({
    mode: z
      .enum([...SANDBOX_MODES, "try"])
      .default("auto")
      .transform((mode): SandboxMode => (mode === "try" ? "auto" : mode))
      .describe(
        "Whether sessions run in a sandbox: `auto` uses one where the machine allows it, `require` refuses to run without one. Default with tenants: `require`. `try` is the old name of `auto`.",
      ),
    hosts: z
      .array(hostPattern)
      .default([])
      .describe("Hosts that sessions may connect to, such as `example.com` or `*.example.com`."),
    domains: z.array(hostPattern).default([]).describe("Deprecated: the old name of `hosts`."),
    mounts: z.array(sandboxMount).default([]).describe("Folders and files that sessions also see: `{path, write}`."),
    services: z
      .array(service)
      .default([])
      .describe("Local services that sessions reach on their own loopback, such as a database: `{port, to}`."),
    ports: z.array(port).default([]).describe("Ports of a session's servers that your browser can open."),
    limits: limits.prefault({}).describe("Resource limits of a session."),
    credentials: z
      .array(credential)
      .default([])
      .describe("Credentials that the proxy adds to requests, so that no session sees them: `{host, header, value}`."),
    tenantUsers: z
      .strictObject({
        first: z.int().min(1_000).default(2_000_000_000).describe("The group of all tenants. Users follow it."),
        count: z.int().min(1).default(10_000).describe("Number of users."),
      })
      .prefault({})
      .describe(
        "Numbers of the OS users of tenants, where the server is root. Accounts of the machine must not have them. The same in all processes of a fleet.",
      ),
    sshAgent: z
      .boolean()
      .default(false)
      .describe("Whether sessions may use your ssh agent, such as for `git push`. They never see the keys."),
    proxyNames: z
      .boolean()
      .default(false)
      .describe(
        "Whether the proxy in `HTTPS_PROXY` gets names instead of checked addresses. It must then refuse private addresses itself.",
      ),
  })
  .transform(({ domains, hosts, ...sandbox }) => ({ ...sandbox, hosts: [...new Set([...hosts, ...domains])] }))
  .meta(needsTrust());
