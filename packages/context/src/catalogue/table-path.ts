import { createHash } from "node:crypto";

export interface TableIdentity {
  connection: string;
  schema: string;
  table: string;
}

/** File systems limit names to 255 bytes. */
const MAX_NAME_BYTES = 200;

/**
 * `catalogue/<connection>/<schema>.<table>.yaml`. Special characters are percent-encoded. Very long names are
 * truncated; the full name is in the file.
 */
export function tablePath(identity: TableIdentity): string {
  const name = nameOf(identity);
  return Buffer.byteLength(name) <= MAX_NAME_BYTES ? inFolder(identity, name) : distinctTablePath(identity);
}

/** For a table whose plain path collides with another on case-insensitive file systems. */
export function distinctTablePath(identity: TableIdentity): string {
  const { schema, table } = identity;
  const hash = createHash("sha256")
    .update(JSON.stringify([schema, table]))
    .digest("hex")
    .slice(0, 12);
  const name = nameOf(identity);
  return inFolder(identity, `${Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : cut(name)}~${hash}`);
}

/** Equal for paths that some file system treats as the same. */
export const foldedPath = (path: string): string => path.normalize("NFC").toLowerCase();

/** The table's part of a file name, without the distinguishing hash. */
export const withoutHash = (name: string): string => name.replace(/~[0-9a-f]{12}$/, "");

/** The name that is percent-encoded in a path. People write paths too, so decoding may fail. */
export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const nameOf = ({ schema, table }: TableIdentity): string => `${encode(schema)}.${encode(table)}`;
const inFolder = ({ connection }: TableIdentity, name: string): string =>
  `catalogue/${encode(connection)}/${name}.yaml`;

/** Does not cut within a character or a percent-encoding. */
const cut = (name: string): string =>
  name
    .slice(0, 48)
    .toWellFormed()
    .replace(/\uFFFD$|%.?$/u, "");

/** Key in search and links: `table:shop/public.orders`. */
export const tableKey = ({ connection, schema, table }: TableIdentity): string =>
  `table:${connection}/${schema}.${table}`;

const encode = (name: string): string =>
  name === ""
    ? "%00"
    : name.replaceAll(/[^\p{L}\p{M}\p{N}_$ -]|^[ -]| $/gu, (character) =>
        encodeURIComponent(character).replace(/^[^%]$/, hex),
      );

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
