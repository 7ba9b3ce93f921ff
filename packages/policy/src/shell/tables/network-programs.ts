import type { OptionTable } from "../option-table.ts";

const NOTHING: OptionTable = { operand: () => false };

/** Programs that connect to other hosts. */
export const NETWORK_PROGRAMS: Readonly<Record<string, OptionTable>> = {
  // Left out: files that curl writes, reads as settings or uploads, other routes (proxies, sockets, `--resolve`), and
  // credentials that no word names.
  curl: {
    flags: "sSLfiIvkGgN46#0Vh",
    values: "HdXAeumwobrFyY",
    long: `silent show-error location fail fail-with-body fail-early include head verbose insecure get globoff no-buffer
      ipv4 ipv6 progress-bar no-progress-meter compressed http1.0 http1.1 http2 http2-prior-knowledge http3
      location-trusted post301 post302 post303 raw path-as-is tcp-nodelay ssl-reqd tlsv1 tlsv1.2 tlsv1.3 basic
      digest header= data= data-raw= data-binary= data-urlencode= data-ascii= json= request= user-agent=
      referer= user= oauth2-bearer= max-time= connect-timeout= retry= retry-delay= retry-max-time=
      retry-connrefused retry-all-errors max-redirs= range= cookie= form= form-string= url= url-query=
      write-out= output= limit-rate= max-filesize= proto= rate= parallel parallel-max=
      keepalive-time= no-keepalive help version`,
    accepts: {
      o: isNowhere,
      output: isNowhere,
      // `%output{file}` writes, `@file` reads the format.
      w: isPlainFormat,
      "write-out": isPlainFormat,
      b: (value) => value.includes("="),
      cookie: (value) => value.includes("="),
      url: isOneTarget,
    },
    operand: isOneTarget,
  },
  wget: NOTHING,
  // Left out: everything that runs a local program or loads a library, and forwarding. Options may follow the host.
  ssh: { flags: "46CNnqTtVvx", values: "ilpbcm", stopsAfter: 2 },
  scp: { flags: "346BCpqrTv", values: "iclP" },
  // Its own commands, from a file or standard input, run local programs.
  sftp: NOTHING,
  rsync: {
    flags: "avzrlptgoDuncmxWHAXhPqiLkKSREO0468",
    long: `archive verbose quiet recursive relative no-relative links copy-links perms times group owner devices
      specials update dry-run checksum prune-empty-dirs whole-file hard-links acls xattrs human-readable progress
      partial itemize-changes stats compress compress-level= delete delete-before delete-during delete-after
      delete-excluded delete-delay exclude= include= filter= exclude-from= include-from= existing
      ignore-existing size-only max-size= min-size= max-delete= inplace append append-verify sparse
      info= debug= no-perms no-owner no-group no-times numeric-ids chmod= chown= one-file-system cvs-exclude
      bwlimit= timeout= ipv4 ipv6 list-only out-format= force ignore-errors version help`,
    // `merge FILE` and `. FILE` read a file, and errors show its lines.
    accepts: { filter: (value) => /^[-+] /.test(value) },
  },
};

/** curl expands `{a,b}` and `[a-c]` itself, also in the name of a local file. */
function isOneTarget(text: string): boolean {
  return !/^file:.*[{[]|^[^:/?]*[{[]/i.test(text);
}

function isNowhere(value: string): boolean {
  return value === "/dev/null" || value === "-";
}

function isPlainFormat(value: string): boolean {
  return !value.startsWith("@") && !/%output/i.test(value);
}
