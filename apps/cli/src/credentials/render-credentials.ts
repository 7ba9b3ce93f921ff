import type { CredentialPayer, CredentialPlace, CredentialReport } from "@tandem/claude-code";
import type { CredentialsReport } from "@tandem/protocol";
import { PAYERS } from "@tandem/tandem/project";
import { printable, table, wrap, type Style } from "../terminal.ts";

const PAYS: Record<CredentialPayer, string> = {
  subscription: "billed to the Claude subscription",
  api_account: "billed to the API key's account",
  gateway: "billed by the service at that address",
  cloud: "billed to the cloud account",
  helper: "billed to the account of the helper's key",
  undecided: "billing depends on the service",
  nobody: "not billed",
};

/** Renders the report. It contains no secret values. */
export function renderCredentials(
  report: CredentialReport,
  uses: CredentialsReport["tandem"],
  { style, home, width }: { style: Style; home: string; width: number },
): string {
  const short = (text: string): string => printable(text.replaceAll(`${home}/`, "~/"));
  const { bold, dim, warn } = style;
  const used = new Set(uses.map(({ source }) => source));
  const places = report.places.map((place) => [
    `  ${short(place.id)}`,
    place.kind.replaceAll("_", " "),
    stateOf(place, used.has(place.id), style),
    dim(describe(place)),
  ]);
  const notices = report.notices.flatMap(({ about, text, fix }) => {
    const [first, ...rest] = wrap(`${short(about)}: ${short(text)}`, width - 4);
    return [
      `  ${warn("!")} ${first}`,
      ...rest.map((line) => `    ${line}`),
      ...(fix ? [`    ${dim("→")} ${short(fix)}`] : []),
    ];
  });
  const { configDir } = report;
  return [
    bold("Found"),
    ...(places.length > 0 ? table(places) : [dim("  no credential for Claude")]),
    "",
    ...(notices.length > 0 ? [bold("Warnings"), ...notices, ""] : []),
    bold("Used"),
    ...table([
      ["  Claude Code alone", ...ofClaudeCode(report, style, short)],
      ...uses.map((use) => [`  Tandem, for ${use.for}`, ...ofTandem(use, report, style, short)]),
    ]),
    "",
    dim(
      `  Claude Code's folder: ${short(configDir.path)} (${configDir.chosenBy === "default" ? "the default" : configDir.chosenBy})`,
    ),
  ].join("\n");
}

/** Tandem uses only the credential that the config names. */
function stateOf({ state, login }: CredentialPlace, isUsed: boolean, { good, warn, bad, dim }: Style): string {
  if (state !== "found") return bad(state);
  if (login?.expired) return login.renewable ? warn("expired") : bad("expired");
  return isUsed ? good("used") : dim("ignored");
}

function describe({ detail, login }: CredentialPlace): string {
  if (!login) return detail ?? "";
  const until = login.expiresAt?.toISOString().replace(/\.\d+Z$/, "Z");
  return [
    login.plan ?? "unknown plan",
    until && `${login.expired ? "since" : "until"} ${until}`,
    login.renewable ? "renews automatically" : "does not renew automatically",
    login.scopes.includes("user:inference") ? undefined : "has no permission for requests",
  ]
    .filter(Boolean)
    .join(", ");
}

function ofClaudeCode(
  { claudeCode: { sends, cloud, host, payer } }: CredentialReport,
  { dim }: Style,
  short: (text: string) => string,
): string[] {
  const sources = [...new Set(Object.values(sends).filter((id) => id !== undefined))];
  const source = cloud ?? sources.join(" and ");
  if (!source) return [dim("nothing"), dim(PAYS.nobody)];
  return [short(source), dim(`${host ? `to ${host}; ` : ""}${PAYS[payer]}`)];
}

function ofTandem(
  { source, state, payer, because }: CredentialsReport["tandem"][number],
  { login }: CredentialReport,
  { dim, bad }: Style,
  short: (text: string) => string,
): string[] {
  const why = `(${short(because)})`;
  if (state === "none_needed") return [dim("nothing"), dim(`no backend configured ${why}`)];
  if (state === "absent") return [source ? `${short(source)}, ${bad("absent")}` : bad("no login"), dim(why)];
  if (state === "expired") return [`${short(source ?? "")}, ${bad("expired")}`, dim(`log in again ${why}`)];
  const isKeyOfLogin = payer === "claude_login" && login.payer === "api_account";
  return [short(source ?? ""), dim(`billed to ${isKeyOfLogin ? "your Console account" : PAYERS[payer]} ${why}`)];
}
