import { PAYERS } from "@tandem/tandem/project";
import type { CredentialKind, CredentialPayer, CredentialPlace, CredentialReport } from "@tandem/claude-code";
import { printable, table, wrap, type Style } from "../terminal.ts";
import type { TandemUse } from "@tandem/tandem/health";

const KINDS: Record<CredentialKind, string> = {
  api_key: "API key",
  bearer_token: "bearer token",
  oauth_token: "OAuth token",
  login: "login",
  helper: "helper",
  headers: "headers",
  cloud: "cloud switch",
  address: "address",
};

const GROUPS: Record<CredentialPlace["group"], string> = {
  environment: "Environment",
  settings: "Settings of Claude Code",
  state: "State of Claude Code",
  login: "Login files",
  keychain: "Keychain",
  others: "Of others, never used by Tandem",
};

const PAYS: Record<CredentialPayer, string> = {
  subscription: "the Claude subscription pays",
  api_account: "the API key's account pays",
  gateway: "whoever is behind that address bills",
  cloud: "the cloud account pays",
  helper: "the account of the helper's key pays",
  undecided: "the service decides who pays",
  nobody: "nobody pays",
};

const STATES: Record<CredentialPlace["state"], string> = {
  found: "there",
  absent: "–",
  unreadable: "unreadable",
  malformed: "malformed",
  unavailable: "not on this platform",
};

/** The report for people. Nothing in it is a value: it has none to show. */
export function renderCredentials(
  report: CredentialReport,
  uses: readonly TandemUse[],
  { style, home, width }: { style: Style; home: string; width: number },
): string {
  const short = (text: string): string => printable(text.replaceAll(`${home}/`, "~/"));
  const { bold, dim, warn } = style;
  const rows = report.places.map((place) => [
    `  ${place.state === "found" ? short(place.id) : dim(short(place.id))}`,
    place.state === "found" ? KINDS[place.kind] : dim(KINDS[place.kind]),
    paintState(place, style),
    dim(describe(place)),
  ]);
  // One table, so that all groups share their columns.
  const lines = table(rows);
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const own = lines.filter((_, i) => report.places[i]?.group === group);
    return own.length === 0 ? [] : [bold(title), ...own, ""];
  });
  const notices = report.notices.flatMap(({ about, text, fix }) => {
    const [first, ...rest] = wrap(`${short(about)}: ${short(text)}`, width - 4);
    return [
      `  ${warn("!")} ${first}`,
      ...rest.map((line) => `    ${line}`),
      ...(fix ? [`    ${dim("→")} ${short(fix)}`] : []),
    ];
  });
  return [
    ...sections.flat(),
    ...(notices.length > 0 ? [bold("To look at"), ...notices, ""] : []),
    bold("Used"),
    ...table([
      ["  Claude Code by itself", ...ofClaudeCode(report, style, short)],
      ...uses.map((use) => [`  Tandem, for ${use.for}`, ...ofTandem(use, report, style, short)]),
    ]),
    "",
    dim(`  Claude Code's folder: ${short(report.configDir.path)} (${chosenBy(report)})`),
  ].join("\n");
}

const chosenBy = ({ configDir }: CredentialReport): string =>
  configDir.chosenBy === "default" ? "the default" : configDir.chosenBy;

function paintState({ state, login, readBy }: CredentialPlace, { good, warn, bad, dim }: Style): string {
  if (state === "unreadable" || state === "malformed") return bad(STATES[state]);
  if (state !== "found") return dim(STATES[state]);
  if (login?.expired) return login.renewable ? warn("ran out") : bad("expired");
  return readBy === "claude_code" ? good(STATES.found) : STATES.found;
}

function describe({ detail, login, state }: CredentialPlace): string {
  if (!login) return state === "unavailable" ? "" : (detail ?? "");
  const until = login.expiresAt?.toISOString().replace(/\.\d+Z$/, "Z");
  return [
    login.plan ?? "unknown plan",
    until && `${login.expired ? "since" : "until"} ${until}`,
    login.renewable ? "renews itself" : "does not renew itself",
    login.scopes.includes("user:inference") ? undefined : "may not make requests",
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
  const what = cloud ?? sources.join(" and ");
  if (!what) return [dim("nothing"), dim(PAYS.nobody)];
  return [short(what), dim(`${host ? `to ${host}; ` : ""}${PAYS[payer]}`)];
}

function ofTandem(
  { source, state, payer, because }: TandemUse,
  { login }: CredentialReport,
  { dim, bad }: Style,
  short: (text: string) => string,
): string[] {
  const why = `(${short(because)})`;
  if (state === "none_needed") return [dim("nothing"), dim(`no backend is chosen ${why}`)];
  if (state === "absent") return [source ? `${short(source)}, ${bad("absent")}` : bad("no login"), dim(why)];
  if (state === "expired") return [`${short(source ?? "")}, ${bad("expired")}`, dim(`log in again ${why}`)];
  const isKeyOfLogin = payer === "claude_login" && login.payer === "api_account";
  const who = isKeyOfLogin ? "your Console account" : PAYERS[payer];
  return [short(source ?? ""), dim(`${who} pays ${why}`)];
}
