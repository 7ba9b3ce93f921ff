import type { KeyObject } from "node:crypto";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** A key and its certificate. The key lives in memory only. */
export interface Certificate {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly pem: string;
}

/** A certificate authority for one rehearsal: valid for a day, trusted by whoever is handed its file. */
export function createAuthority(): Certificate {
  return createCertificate("Rehearsal CA", undefined, (publicKey) => [
    extension(oid.basicConstraints, sequence(boolean(true)), true),
    // keyCertSign and cRLSign
    extension(oid.keyUsage, Buffer.from([0x03, 0x02, 0x01, 0x06]), true),
    extension(oid.subjectKeyIdentifier, tagged(0x04, keyIdentifier(publicKey))),
  ]);
}

/** A server's certificate for one host name. */
export function createLeaf(host: string, authority: Certificate): Certificate {
  return createCertificate(host, authority, (publicKey) => [
    extension(oid.basicConstraints, sequence(), true),
    // digitalSignature
    extension(oid.keyUsage, Buffer.from([0x03, 0x02, 0x07, 0x80]), true),
    extension(oid.extendedKeyUsage, sequence(objectId(oid.serverAuth))),
    extension(oid.subjectAltName, sequence(tagged(0x82, Buffer.from(host, "ascii")))),
    extension(oid.subjectKeyIdentifier, tagged(0x04, keyIdentifier(publicKey))),
    extension(oid.authorityKeyIdentifier, sequence(tagged(0x80, keyIdentifier(authority.publicKey)))),
  ]);
}

function createCertificate(
  subject: string,
  issuer: Certificate | undefined,
  extensionsOf: (publicKey: KeyObject) => Buffer[],
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId(oid.ecdsaWithSha256));
  const now = Date.now();
  const toBeSigned = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    name(issuer?.subject ?? subject),
    // From an hour ago, for clocks that disagree.
    sequence(time(now - 3_600_000), time(now + 86_400_000)),
    name(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensionsOf(publicKey))),
  );
  const signature = sign("sha256", toBeSigned, issuer?.privateKey ?? privateKey);
  const der = sequence(toBeSigned, algorithm, bitString(signature));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
  return { subject, publicKey, privateKey, pem };
}

// What follows is as much of DER, the encoding of certificates, as two kinds of certificate need.

const oid = {
  commonName: "2.5.4.3",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
} as const;

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(content: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), content]));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function name(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId(oid.commonName), tagged(0x0c, Buffer.from(commonName)))));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), tagged(0x04, value));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
}
