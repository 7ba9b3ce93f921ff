import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { userInfo } from "node:os";
import type { Mount, OsUser } from "./sandbox-plan.ts";

/** Symbolic links into /usr on most systems, folders of their own on others. */
const ROOT_FOLDERS = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/**
 * Settings without secrets. Not here: /etc/ssl/private, resolv.conf (the proxy resolves names), profile and bashrc (they reset
 * PATH, and the private home has no file that adds the toolchains again).
 */
const ETC =
  `ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ssl/certs ssl/cert.pem ssl/openssl.cnf pki/ca-trust pki/tls/certs
  pki/tls/cert.pem pki/tls/openssl.cnf ca-certificates ca-certificates.conf crypto-policies alternatives nsswitch.conf
  localtime timezone mime.types os-release debian_version lsb-release redhat-release alpine-release protocols services
  locale.conf locale.alias terminfo inputrc fonts magic shells maven perl php gprofng.rc`.split(/\s+/);
const ETC_VERSIONED = /^(?:java-|python3|nodejs)/;

/** npm's global settings, which may contain tokens. Shown empty. */
const SYSTEM_SECRETS = ["/usr/etc/npmrc", "/usr/local/etc/npmrc"];

export interface Identity {
  name?: string;
  email?: string;
}

/** The host's programs and libraries, read-only, and as little of /etc as they need. */
export function systemMounts(home: string, user: OsUser | undefined, identity: Identity): Mount[] {
  return [
    { from: "/usr", access: "read" },
    ...ROOT_FOLDERS.filter((folder) => existsSync(folder)).map(asOnHost),
    ...[...ETC, ...readdirSync("/etc").filter((name) => ETC_VERSIONED.test(name))].map((name): Mount => ({
      from: `/etc/${name}`,
      access: "read",
      optional: true,
    })),
    ...SYSTEM_SECRETS.filter((file) => existsSync(file)).map((at): Mount => ({ text: "", at })),
    ...accountFiles(home, user),
    { text: "127.0.0.1 localhost tandem\n::1 localhost\n", at: "/etc/hosts" },
    { text: gitConfig(identity), at: "/etc/gitconfig" },
  ];
}

const asOnHost = (folder: string): Mount =>
  lstatSync(folder).isSymbolicLink() ? { link: readlinkSync(folder), at: folder } : { from: folder, access: "read" };

/** One user with its group, so that programs find a name for them. */
function accountFiles(home: string, user: OsUser | undefined): Mount[] {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { uid, gid } = user ?? own;
  const name = uid === own.uid ? ownName() : "agent";
  const nobody = uid === 65534 ? "" : "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n";
  return [
    { text: `${name}:x:${uid}:${gid}:${name}:${home}:/bin/sh\n${nobody}`, at: "/etc/passwd" },
    { text: `${name}:x:${gid}:\n`, at: "/etc/group" },
  ];
}

/** Containers often run with a number that no account has. */
export function ownName(read = () => userInfo().username): string {
  try {
    return read();
  } catch {
    return "agent";
  }
}

/** In the system's file: the user's own file inside stays free for the agent. */
function gitConfig({ name, email }: Identity): string {
  const line = (key: string, value: string | undefined): string =>
    value === undefined ? "" : `\t${key} = ${JSON.stringify(value.replaceAll(/[\r\n\0]/g, " "))}\n`;
  // Garbage collection fails at other worktrees of the repository, whose entries are read-only.
  return `[user]\n${line("name", name)}${line("email", email)}[gc]\n\tauto = 0\n`;
}
