// @peculiar/x509 needs this side effect before it is loaded.
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { KeyObject, webcrypto } from "node:crypto";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A key and its certificate. The key exists in memory only. */
export interface Certificate {
  readonly subject: string;
  readonly keys: webcrypto.CryptoKeyPair;
  /** PKCS #8. */
  readonly keyPem: string;
  readonly pem: string;
}

/** A certificate authority for one rehearsal or sandbox. Programs trust it through its file. */
export async function createAuthority(subject: string): Promise<Certificate> {
  const keys = await createKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: `CN=${subject}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { subject, keys, keyPem: exportKey(keys), pem: certificate.toString("pem") };
}

/** A server certificate for one host name. */
export async function createLeaf(host: string, authority: Certificate): Promise<Certificate> {
  const keys = await createKeys();
  const certificate = await X509CertificateGenerator.create({
    ...validity(),
    subject: `CN=${host}`,
    issuer: `CN=${authority.subject}`,
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: "dns", value: host }]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
    ],
  });
  return { subject: host, keys, keyPem: exportKey(keys), pem: certificate.toString("pem") };
}

const createKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);

const exportKey = ({ privateKey }: webcrypto.CryptoKeyPair): string =>
  KeyObject.from(privateKey).export({ type: "pkcs8", format: "pem" }).toString();

/** Starts an hour ago, to tolerate clock skew. The key is gone when the process ends. */
const validity = () => ({
  notBefore: new Date(Date.now() - 3_600_000),
  notAfter: new Date(Date.now() + 365 * 86_400_000),
});
