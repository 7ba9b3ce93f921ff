import { createHash } from "node:crypto";

export interface TableIdentity {
  connection: string;
  schema: string;
  table: string;
}

/** File systems take 255 bytes of a name. */
const MAX_NAME_BYTES = 200;

/**
 * `catalogue/<connection>/<schema>.<table>.yaml`. Characters that a file system or the form itself would stumble over are
 * written as in a URL. What a table is called stands in the file: of very long names, the path has the beginning only.
 */
export function tablePath(identity: TableIdentity): string {
  const name = nameOf(identity);
  return Buffer.byteLength(name) <= MAX_NAME_BYTES ? inFolder(identity, name) : distinctTablePath(identity);
}

/** For a table whose plain path is another's on disks that do not tell capitals from small letters. */
export function distinctTablePath(identity: TableIdentity): string {
  const { schema, table } = identity;
  const hash = createHash("sha256")
    .update(JSON.stringify([schema, table]))
    .digest("hex")
    .slice(0, 12);
  const name = nameOf(identity);
  return inFolder(identity, `${Buffer.byteLength(name) <= MAX_NAME_BYTES ? name : cut(name)}~${hash}`);
}

/** The same for paths that one file would be found by, somewhere. */
export const foldedPath = (path: string): string => path.normalize("NFC").toLowerCase();

/** What a file's name says of the table's, without what makes it distinct. */
export const withoutHash = (name: string): string => name.replace(/~[0-9a-f]{12}$/, "");

const nameOf = ({ schema, table }: TableIdentity): string => `${encode(schema)}.${encode(table)}`;
const inFolder = ({ connection }: TableIdentity, name: string): string =>
  `catalogue/${encode(connection)}/${name}.yaml`;

/** Not in the middle of a character, written out or in hexadecimal digits. */
const cut = (name: string): string =>
  name
    .slice(0, 48)
    .toWellFormed()
    .replace(/\uFFFD$|%.?$/u, "");

/** As search and links name it: `table:shop/public.orders`. */
export const tableKey = ({ connection, schema, table }: TableIdentity): string =>
  `table:${connection}/${schema}.${table}`;

const encode = (name: string): string =>
  name === ""
    ? "%00"
    : name.replaceAll(/[^\p{L}\p{M}\p{N}_$ -]|^[ -]| $/gu, (character) =>
        encodeURIComponent(character).replace(/^[^%]$/, hex),
      );

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
